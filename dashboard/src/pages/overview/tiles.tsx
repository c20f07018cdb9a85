import { type JobWord, queryWord, statesOf } from "@resontech/contracts/state-words";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useMay } from "../../api/session.ts";
import { Icon } from "../../ui/icon/icon.tsx";
import type { IconName } from "../../ui/icon/lucide/lucide.ts";
import { useEndpoints } from "./endpoints.tsx";
import { useLivingJobs } from "./use-living-jobs.ts";
import { useToApprove } from "./to-approve.tsx";
import { useWorkers } from "./use-workers.ts";
import styles from "./overview.module.css";

/** The figures that are looked for first, each a way to its page. */
export function Tiles() {
  const mayList = useMay("job.list");
  const mayFleet = useMay("fleet.read");
  const mayApprove = useMay("approval.list");
  return (
    <ul className={styles["tiles"]} aria-label="At a glance">
      {mayList ? <JobTiles /> : null}
      {mayFleet ? <WorkerTile /> : null}
      {mayApprove ? <ApprovalTile /> : null}
    </ul>
  );
}

function JobTiles() {
  const totals = useLivingJobs().data?.totals;
  const endpoints = useEndpoints(true).data?.totals;
  const count = (...words: JobWord[]) =>
    totals === undefined
      ? undefined
      : words.flatMap(statesOf).reduce((sum, state) => sum + (totals[state] ?? 0), 0);
  const to = (...words: JobWord[]) => `/jobs?state=${words.map(queryWord).join(",")}`;
  return (
    <>
      <Tile
        icon="jobs"
        title="Running jobs"
        href={to("running", "finishing")}
        figure={count("running", "finishing")}
      />
      <Tile
        icon="jobs"
        title="Waiting jobs"
        href={to("waiting", "starting", "making way")}
        figure={count("waiting", "starting", "making way")}
      />
      <Tile
        icon="fault"
        title="Failed jobs"
        href={to("failed", "timed out")}
        figure={count("failed", "timed out")}
      />
      <Tile
        icon="inference"
        title="Endpoints"
        href="/inference"
        figure={endpoints === undefined ? undefined : (endpoints.RUNNING ?? 0)}
      />
    </>
  );
}

function WorkerTile() {
  const mayNodes = useMay("node.list");
  const workers = useWorkers().data?.workers;
  const busy = workers?.filter(({ status }) => status === "busy").length;
  return (
    <Tile
      icon="nodes"
      title="Workers in use"
      href={mayNodes ? "/nodes" : undefined}
      figure={busy}
      of={workers?.length}
    />
  );
}

function ApprovalTile() {
  const waiting = useToApprove(true);
  return <Tile icon="approvals" title="To approve" href="/approvals" figure={waiting?.length} />;
}

function Tile({
  icon,
  title,
  href,
  figure,
  of,
}: {
  icon: IconName;
  title: string;
  href: string | undefined;
  /** Undefined: not known yet. */
  figure: number | undefined;
  of?: number | undefined;
}) {
  const content: ReactNode = (
    <>
      <span className={styles["about"]}>
        <Icon name={icon} /> {title}
      </span>
      <span className={styles["figure"]}>
        {figure ?? "–"}
        {of === undefined ? null : <small> of {of}</small>}
      </span>
    </>
  );
  return (
    <li>
      {href === undefined ? (
        <div className={styles["tile"]}>{content}</div>
      ) : (
        <Link href={href} className={styles["tile"] ?? ""}>
          {content}
        </Link>
      )}
    </li>
  );
}
