import { type ReactNode, useEffect, useRef, useSyncExternalStore } from "react";
import {
  Button as AriaButton,
  Menu,
  MenuItem,
  MenuTrigger,
  Popover,
  Separator,
} from "react-aria-components";
import { Link, useLocation } from "wouter";
import { ask } from "../api/ask.ts";
import { auditHalt } from "../api/audit-halt.ts";
import { useSession } from "../api/session.ts";
import { sessionEnded } from "../api/session-end.ts";
import { useLiveState } from "../live/live.ts";
import { Icon } from "../ui/icon/icon.tsx";
import { Ago } from "../ui/instant.tsx";
import { setDensity, useDensity } from "../ui/density.ts";
import { scrollSideways } from "../ui/scroll-sideways.ts";
import { preloadPage } from "./loaded-pages.ts";
import { Palette } from "./palette.tsx";
import { PAGE_GROUPS, type PageEntry, PAGES } from "./pages.ts";
import { useActivity } from "./use-activity.ts";
import { useJobNotices } from "./use-job-notices.ts";
import styles from "./shell.module.css";

/** What stands around every page: where one can go, who one is, and whether what is shown is live. */
export function Shell({ children }: { children: ReactNode }) {
  const session = useSession();
  const { may } = session;
  const [location] = useLocation();
  const isEnding = useActivity(session);
  useJobNotices();
  const nav = useRef<HTMLElement>(null);
  // On a narrow window the pages stand in one line, and the one that is open may lie outside.
  useEffect(() => {
    const here = nav.current?.querySelector("[aria-current]");
    if (here) scrollSideways(nav.current!, here);
  }, [location]);
  const open = PAGES.filter(({ actions }) => actions.some((action) => may.includes(action)));
  return (
    <div className={styles["shell"]}>
      <a className={styles["skip"]} href="#main">
        To the content
      </a>
      <header className={styles["head"]}>
        <span className={styles["mark"]}>ResonTech</span>
        <nav aria-label="Pages" className={styles["nav"]} ref={nav}>
          <div className={styles["group"]}>
            <PageLink path="/" title="Overview" icon="overview" isHere={location === "/"} />
          </div>
          {PAGE_GROUPS.map((group) => {
            const pages = open.filter((page) => page.group === group);
            return pages.length === 0 ? null : (
              <div key={group} role="group" aria-label={group} className={styles["group"]}>
                <span aria-hidden="true" className={styles["about"]}>
                  {group}
                </span>
                {pages.map((page) => (
                  <PageLink key={page.path} {...page} isHere={location.startsWith(page.path)} />
                ))}
              </div>
            );
          })}
        </nav>
        <div className={styles["foot"]}>
          <LiveMark />
          <PersonMenu />
        </div>
      </header>
      <div className={styles["frame"]}>
        <Palette />
        <AuditHalted />
        <SessionOver isEnding={isEnding} />
        <main id="main" tabIndex={-1} className={styles["main"]}>
          {children}
        </main>
      </div>
    </div>
  );
}

function PageLink({
  path,
  title,
  icon,
  isHere,
}: Pick<PageEntry, "path" | "title" | "icon"> & { isHere: boolean }) {
  return (
    <Link
      href={path}
      aria-current={isHere ? "page" : undefined}
      className={styles["page"] ?? ""}
      onPointerEnter={() => preloadPage(path)}
      onFocus={() => preloadPage(path)}
    >
      <Icon name={icon} />
      {title}
    </Link>
  );
}

function LiveMark() {
  const state = useLiveState();
  if (state.kind === "unused") return null;
  return (
    <span role="status" className={styles["live"]} data-live={state.kind}>
      {state.kind === "live" ? (
        "live"
      ) : state.since === null ? (
        "connecting"
      ) : (
        <>
          not live since <Ago at={new Date(state.since).toISOString()} />
        </>
      )}
    </span>
  );
}

function PersonMenu() {
  const { user, roles, acr } = useSession();
  const [, go] = useLocation();
  const density = useDensity();
  const leave = async (path: "/auth/sign-out" | "/auth/sign-out-everywhere") => {
    const { location: next } = await ask("POST", path);
    location.assign(next);
  };
  return (
    <MenuTrigger>
      <AriaButton id="who" className={styles["person"] ?? ""}>
        <Icon name="person" />
        <span id="username">{user.username}</span>
      </AriaButton>
      <Popover className={styles["popover"] ?? ""} placement="bottom end">
        <p className={styles["who"]}>
          {roles.length === 0 ? "No role on the whole appliance" : roles.join(", ")}
          <br />
          {acr === "2" ? "Signed in with a second factor" : "Signed in without a second factor"}
        </p>
        <Menu className={styles["menu"] ?? ""} aria-label="Your account">
          <MenuItem className={styles["item"] ?? ""} onAction={() => go("/profile")}>
            Your profile
          </MenuItem>
          <MenuItem
            className={styles["item"] ?? ""}
            onAction={() => setDensity(density === "dense" ? "wide" : "dense")}
          >
            {density === "dense" ? "Wide rows in tables" : "Dense rows in tables"}
          </MenuItem>
          <MenuItem className={styles["item"] ?? ""} href="/auth/credential/passkey">
            Add a passkey
          </MenuItem>
          <MenuItem className={styles["item"] ?? ""} href="/auth/credential/code">
            Set up a code generator
          </MenuItem>
          <MenuItem className={styles["item"] ?? ""} href="/auth/credential/password">
            Change the password
          </MenuItem>
          <Separator className={styles["line"] ?? ""} />
          <MenuItem className={styles["item"] ?? ""} onAction={() => void leave("/auth/sign-out")}>
            Sign out
          </MenuItem>
          <MenuItem
            className={styles["item"] ?? ""}
            onAction={() => void leave("/auth/sign-out-everywhere")}
          >
            Sign out everywhere
          </MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function AuditHalted() {
  const isHalted = useSyncExternalStore(auditHalt.subscribe, auditHalt.isHalted);
  if (!isHalted) return null;
  return (
    <div role="alert" className={styles["over"]}>
      The audit log takes no record, so nothing can be done or looked up until it does. Jobs that
      run go on. The operator sees the cause in <code>appliance status</code>.
    </div>
  );
}

/** The page stays as it was: whoever reads goes on reading. */
function SessionOver({ isEnding }: { isEnding: boolean }) {
  const isOver = useSyncExternalStore(sessionEnded.subscribe, sessionEnded.isOver);
  if (!isOver && isEnding)
    return (
      <div role="alert" className={styles["over"]}>
        Nobody has touched this page for a while: in two minutes your session ends. Press a key or
        move the pointer to stay.
      </div>
    );
  if (!isOver) return null;
  const back = `${location.pathname}${location.search}`;
  return (
    <div role="alert" className={styles["over"]}>
      Your session has ended. What you see is no longer live.{" "}
      <a href={`/auth/sign-in?return=${encodeURIComponent(back)}`}>Sign in again</a>
    </div>
  );
}
