/** Figure 9: every page in both themes and two widths, by axe, by the page's own policy, by keyboard and in grey. */
import type { Page } from "playwright-core";
import { JOB_STATES, MEMBER_STATES } from "@resontech/contracts/job-states";
import { NODE_STATES } from "@resontech/contracts/node-states";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { jobWord, memberWord, nodeWord } from "@resontech/dashboard/state-word";
import type { Figure } from "./figure.ts";
import { visit } from "./visit.ts";
import { PATHS } from "./paths.ts";
import type { World } from "./world.ts";

const WIDTHS = [360, 1280] as const;
const ROLES = ["platform-admin", "security-officer"] as const;
const OF_ADMINISTRATORS = ["/nodes", "/people", "/approvals", "/audit", "/appliance"];
/** Long lists are walked so far. */
const MOST_TABS = 400;
const KEYBOARD_PATHS = [
  "/",
  "/queue",
  "/inference",
  "/submit",
  "/submit?as=command",
  "/compare",
  "/storage",
  "/keys",
  "/people",
  "/approvals",
  "/audit",
  "/appliance",
];

export async function everyLook(world: World, progress: (line: string) => void): Promise<Figure> {
  const faults = new Set<string>();
  const violations = new Set<string>();
  let looks = 0;
  for (const dark of [false, true])
    for (const width of WIDTHS) {
      // A platform administrator sees no job, and of the others nobody sees the nodes.
      const windows = await Promise.all(
        [[], ROLES].map(async (roles) => {
          const look = { roles, dark, width };
          const free = await world.page(world.owner.userId, { ...look, bypassPolicy: true });
          const held = await world.page(world.owner.userId, look);
          await listenForViolations(held, violations);
          return { free, held };
        }),
      );
      for (const path of PATHS) {
        const { free, held } =
          windows[OF_ADMINISTRATORS.some((one) => path.startsWith(one)) ? 1 : 0]!;
        await settle(free, `${world.url}${path}`);
        for (const fault of await accessibilityFaults(free))
          faults.add(`${path} ${dark ? "dark" : "light"} ${width}: ${fault.slice(0, 160)}`);
        await settle(held, `${world.url}${path}`);
        looks += 1;
      }
      for (const { free, held } of windows) {
        await free.context().close();
        await held.context().close();
      }
      progress(`${looks} looks, ${faults.size} faults, ${violations.size} violations`);
    }
  const unreached = await unreachedByKeyboard(world);
  const alike = alikeInGrey();
  return {
    goal: "no violation of axe, CSP or Trusted Types over all pages × 2 themes × 2 widths; every action by keyboard; states told apart in greyscale",
    measured: {
      ...{ pages: PATHS.length, looks, axe: [...faults], policy: [...violations] },
      ...{ not_by_keyboard: unreached, states_alike_in_grey: alike },
    },
    met:
      faults.size + violations.size + unreached.length + alike.length === 0 &&
      looks === PATHS.length * 4,
  };
}

async function settle(page: Page, url: string): Promise<void> {
  await visit(page, url, { waitUntil: "networkidle" });
  await page.getByRole("status", { name: "Loading" }).first().waitFor({ state: "detached" });
}

async function listenForViolations(page: Page, into: Set<string>): Promise<void> {
  await page.exposeFunction("tellViolation", (text: string) => void into.add(text));
  await page.addInitScript(() => {
    const { document, tellViolation } = globalThis as unknown as {
      document: { addEventListener: (type: string, on: (event: Violation) => void) => void };
      tellViolation: (text: string) => void;
    };
    type Violation = { violatedDirective: string; blockedURI: string; sourceFile: string };
    document.addEventListener("securitypolicyviolation", (event) =>
      tellViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}`),
    );
  });
}

/** What can be pressed and is not come to by Tab; of a group that the arrows walk one is enough. */
async function unreachedByKeyboard(world: World): Promise<string[]> {
  const page = await world.page(world.owner.userId, { roles: ROLES });
  const unreached: string[] = [];
  for (const path of KEYBOARD_PATHS) {
    await settle(page, `${world.url}${path}`);
    const wanted = await markActions(page);
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      await page.keyboard.press("Tab");
      if (await noteFocus(page)) break;
    }
    const left = await page.evaluate(() => {
      const { document } = globalThis as unknown as {
        document: { querySelectorAll: (selector: string) => Iterable<{ outerHTML: string }> };
      };
      return [...document.querySelectorAll("[data-wanted]:not([data-reached])")].map(
        ({ outerHTML }) => outerHTML.slice(0, 100),
      );
    });
    if (wanted === 0) unreached.push(`${path}: nothing to press`);
    unreached.push(...left.map((one) => `${path}: ${one}`));
  }
  await page.context().close();
  return unreached;
}

async function markActions(page: Page): Promise<number> {
  return await page.evaluate(() => {
    type Element = {
      checkVisibility: () => boolean;
      matches: (selector: string) => boolean;
      setAttribute: (name: string, value: string) => void;
    };
    const { document } = globalThis as unknown as {
      document: { querySelectorAll: (selector: string) => Iterable<Element> };
    };
    const roving = "[role=tab][tabindex='-1'], [role=radio], [type=radio], [role=menuitem]";
    const found = [...document.querySelectorAll("a[href], button, input, select, textarea")].filter(
      (one) => one.checkVisibility() && !one.matches(`:disabled, [aria-hidden=true], ${roving}`),
    );
    for (const one of found) one.setAttribute("data-wanted", "");
    return found.length;
  });
}

/** A field of several parts, as a date, has the focus for as many steps. @returns whether the walk has come round */
async function noteFocus(page: Page): Promise<boolean> {
  return await page.evaluate(() => {
    type Element = {
      hasAttribute: (name: string) => boolean;
      setAttribute: (name: string, value: string) => void;
      removeAttribute: (name: string) => void;
    };
    const { document } = globalThis as unknown as {
      document: {
        activeElement: Element;
        body: Element;
        querySelector: (selector: string) => Element | null;
      };
    };
    const { activeElement, body } = document;
    const isSame = activeElement.hasAttribute("data-focused");
    document.querySelector("[data-focused]")?.removeAttribute("data-focused");
    if (activeElement === body) return false;
    activeElement.setAttribute("data-focused", "");
    if (activeElement.hasAttribute("data-reached")) return !isSame;
    activeElement.setAttribute("data-reached", "");
    return false;
  });
}

/** Without colour a state is its shape and its word: states that differ in either tone or word must differ there. */
function alikeInGrey(): string[] {
  const kinds = {
    job: JOB_STATES.map(jobWord),
    member: MEMBER_STATES.map(memberWord),
    node: NODE_STATES.map(nodeWord),
  };
  return Object.entries(kinds).flatMap(([kind, words]) => {
    const tones = Map.groupBy(words, ({ shape, word }) => `${shape} ${word}`);
    return [...tones]
      .filter(([, alike]) => new Set(alike.map(({ tone }) => tone)).size > 1)
      .map(([look]) => `${kind}: ${look}`);
  });
}
