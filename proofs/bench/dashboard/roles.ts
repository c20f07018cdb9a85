/** Figure 7: what each role is shown, against the policies; and the proof of an entry, checked in the page. */
import { checkProof } from "@resontech/verifier/check-proof";
import Database from "better-sqlite3";
import type { Page } from "playwright-core";
import type { Action } from "@resontech/coordinator/actions";
import type { Caller, RoleGrant } from "@resontech/coordinator/caller";
import { decide } from "@resontech/coordinator/decide";
import {
  APPLIANCE_ROLES,
  type ApplianceRole,
  type ProjectRole,
} from "@resontech/coordinator/roles";
import { PAGES } from "@resontech/dashboard/pages";
import { type Figure, rounded } from "./figure.ts";
import { visit } from "./visit.ts";
import { PATHS } from "./paths.ts";
import type { World } from "./world.ts";

const MOST_MS = 300;
/** Who holds a role of the appliance leads the own project as well; of the others one has the own project by each role. */
const PEOPLE: readonly { appliance: ApplianceRole | null; project: ProjectRole }[] = [
  ...APPLIANCE_ROLES.map((appliance) => ({ appliance, project: "project-lead" as const })),
  ...(["project-lead", "researcher", "viewer"] as const).map((project) => ({
    ...{ appliance: null, project },
  })),
];
const SHOWN_FLIPS = 8;
const SHOWN_TIMES = 10;

export async function rolesAndProofs(
  world: World,
  progress: (line: string) => void,
): Promise<Figure> {
  const wrong: string[] = [];
  let cells = 0;
  for (const { appliance, project } of PEOPLE) {
    const name = appliance ?? project;
    const roles = appliance === null ? [] : [appliance];
    const user = await world.house.addUser(`role-${name}`);
    holdProject(world, user.userId, project);
    const grants: RoleGrant[] = [
      ...roles.map((role) => ({ role, projectId: null })),
      // An auditor is a member of nothing, whatever rows there are.
      ...(appliance === "compliance-auditor" ? [] : [{ role: project, projectId: user.project }]),
    ];
    const caller: Caller = {
      ...{ kind: "session", sessionId: "of the proof", userId: user.userId },
      holds: grants.map(({ role }) => role),
      ...{ projectId: user.project, grants, signIn: { acr: "2", at: Date.now() } },
    };
    const may = (action: string) => decide(caller, action as Action, "rows").effect === "allow";
    const page = await world.page(user.userId, { roles });
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() === 403) refused.push(new URL(response.url()).pathname);
    });
    await visit(page, `${world.url}/approvals`);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    const links = await page
      .getByRole("navigation", { name: "Pages" })
      .getByRole("link")
      .allTextContents();
    for (const { title, actions } of PAGES) {
      cells += 1;
      if (links.includes(title) !== actions.some(may))
        wrong.push(`${name}: ${title} is ${links.includes(title) ? "shown" : "hidden"}`);
    }
    refused.length = 0;
    const own = PAGES.filter(({ actions }) => actions.some(may)).map(({ path }) => path);
    for (const path of ["/", ...own]) {
      cells += 1;
      await visit(page, `${world.url}${path}`, { waitUntil: "networkidle" }).catch(() => null);
      wrong.push(
        ...refused.splice(0).map((asked) => `${name}: ${path} asks for ${asked} and may not`),
      );
    }
    await page.context().close();
  }
  progress(`${cells} cells, ${wrong.length} wrong, over ${PATHS.length} addresses`);
  const proof = await entryProof(world);
  return {
    goal: "nine roles × every route and control: no difference from the policy; an audit proof verified in the page in at most 300 ms; every flipped byte fails",
    measured: {
      ...{ roles: PEOPLE.length, cells, wrong },
      routes_by_proof: "role-matrix",
      ...{ verify_max_ms: rounded(proof.maxMs), bytes: proof.bytes, flips_missed: proof.missed },
      flips_shown_in_the_page: proof.shown,
    },
    met:
      wrong.length === 0 &&
      proof.maxMs <= MOST_MS &&
      proof.missed === 0 &&
      proof.shown === SHOWN_FLIPS,
  };
}

function holdProject(world: World, userId: string, role: ProjectRole): void {
  const db = new Database(world.house.running.config.databaseFile, { timeout: 10_000 });
  try {
    db.prepare("UPDATE project_members SET role = ? WHERE user_id = ?").run(role, userId);
  } finally {
    db.close();
  }
}

/** One entry's proof in the page as it is and with bytes flipped; each of its bytes by the same code beside the page. */
async function entryProof(world: World) {
  await world.house.running.startSearch();
  const auditor = await world.house.addUser("auditor");
  await world.house.running.get("/api/keys", world.owner.platformKey);
  const page = await world.page(auditor.userId, { roles: ["compliance-auditor"] });
  await visit(page, `${world.url}/audit`);
  await page.getByText("Search by fields").click();
  await page.getByLabel("Kind of event").fill("key.list");
  const found = page.getByRole("link", { name: /^\d{4}\/\d+$/ }).first();
  for (let tries = 0; tries < 100 && (await found.count()) === 0; tries += 1) {
    await page.getByRole("button", { name: "Search" }).click();
    await page.waitForTimeout(300);
  }
  const address = await found.getAttribute("href");
  const answer = page.waitForResponse(/\/api\/audit\/events\/\d+/);
  await found.click();
  const { proof } = (await (await answer).json()) as { proof: string };
  if (!(await integrityOf(page)).includes("PASS")) throw new Error("an honest proof is refused");
  const times: number[] = [];
  for (let round = 0; round < SHOWN_TIMES; round += 1) {
    const come = page.waitForResponse(/\/api\/audit\/events\/\d+/);
    await page.reload();
    await (await come).finished();
    const from = performance.now();
    await integrityOf(page);
    times.push(performance.now() - from);
  }
  const bytes = Buffer.from(proof);
  let missed = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const { verdicts, refused } = await checkProof(flipped(bytes, at), null);
    if (refused === null && verdicts.INTEGRITY.verdict === "PASS") missed += 1;
  }
  let shown = 0;
  for (let flip = 0; flip < SHOWN_FLIPS; flip += 1) {
    const at = Math.floor((bytes.length * (flip + 0.5)) / SHOWN_FLIPS);
    await page.route("**/api/audit/events/*", async (route) => {
      const real = await route.fetch();
      const body = (await real.json()) as object;
      await route.fulfill({ response: real, json: { ...body, proof: flipped(bytes, at) } });
    });
    await visit(page, `${world.house.running.url}${address}`);
    if (!(await integrityOf(page)).includes("PASS")) shown += 1;
    await page.unroute("**/api/audit/events/*");
  }
  await page.context().close();
  return { maxMs: Math.max(...times), bytes: bytes.length, missed, shown };
}

/** Another letter of the same kind, so that what is flipped stays text. */
function flipped(bytes: Buffer, at: number): string {
  const copy = Buffer.from(bytes);
  copy[at] = copy[at]! ^ 1;
  return copy.toString("latin1");
}

async function integrityOf(page: Page): Promise<string> {
  const rows = page.getByRole("group", { name: "What the proof shows" }).locator("tbody tr");
  return (await rows.first().textContent()) ?? "";
}
