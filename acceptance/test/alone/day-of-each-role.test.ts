/** A day of each role on the installed appliance, in a browser: from signing in to the main thing that each of them is there for. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { strFromU8, unzipSync } from "fflate";
import t from "tap";
import { LocalAppliance } from "@resontech/house/local-appliance";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { picturePages } from "../helper/picture-pages.ts";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { readyFolder } from "../helper/ready-folder.ts";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);

t.setTimeout(900_000);
const browser = await launchApplianceBrowser(appliance);
t.teardown(() => browser.close());

for (const name of ["sofie", "otto", "lena", "rosa"]) await appliance.command(["add-user", name]);
const { project } = JSON.parse(
  await appliance.command(["project", "add", "mammography", "--lead", "lena", "--json"]),
) as { project: string };
const credentials = readFileSync(join(root, "data", "credentials.txt"), "utf8");
const first = /^username = (.+)$/m.exec(credentials)?.[1] ?? "";
// Another test may have been this person before.
await appliance.command(["user", "reset-second-factor", first]);
let sofie: SignedInPerson | null = null;
/** What the auditor asks after: the job, and the folder of its data. */
let jobOfRosa = "";
let shards = "";
const admin = await SignedInPerson.signIn(browser, appliance, first);

/** The only request that waits. */
async function approve(officer: SignedInPerson): Promise<void> {
  await officer.act(async () => {
    await officer.press("Approve");
    await officer.page.getByRole("alertdialog").getByRole("button", { name: "Approve" }).click();
  }, officer.page.getByText("Nothing waits"));
}

async function askForRole(name: string, role: string): Promise<void> {
  await admin.goTo("People");
  const form = admin.page.getByRole("region", { name: "Give or take a role" });
  await form.getByRole("combobox", { name: /^Person/ }).selectOption({ label: name });
  await form.getByRole("combobox", { name: /^Role/ }).selectOption(role);
  await form.getByLabel("Reason").fill("the appliance is new");
  await admin.act(
    () => form.getByRole("button", { name: "Ask for it" }).click(),
    form.getByText("Asked for."),
  );
}

t.test(
  "an administrator gives the duties away, the second of them with a second person",
  async (t) => {
    const { page } = admin;
    await page.getByText("Nobody could approve what needs a second person").waitFor();
    await askForRole("sofie", "security-officer");
    await admin.goTo("Approvals");
    await page.getByText("nobody: there was one person").waitFor();
    await askForRole("otto", "compliance-auditor");

    // A role counts from the next sign-in on.
    sofie = await SignedInPerson.signIn(browser, appliance, "sofie");
    await sofie.goTo("Approvals");
    await sofie.page.getByText("otto becomes compliance-auditor").first().waitFor();
    await approve(sofie);
    t.same(sofie.complaints, []);
  },
);

/** The supervisor replaces a part that has said nothing for a minute: whichever agent follows is held as well. */
async function whileAgentIsHeld(work: () => Promise<void>): Promise<void> {
  const held: number[] = [];
  const over = new AbortController();
  const holding = (async () => {
    for (; !over.signal.aborted; await sleep(200)) {
      const last = held.at(-1);
      if (last !== undefined && isSignalled(last, 0)) continue;
      const pid = appliance.status().parts.find(({ name }) => name === "agent")?.pid ?? null;
      if (pid !== null && isSignalled(pid, "SIGSTOP")) held.push(pid);
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await holding;
    for (const pid of held) isSignalled(pid, "SIGCONT");
  }
}

function isSignalled(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

t.test(
  "an operator finds the node that is silent, drains it, and makes a join token",
  async (t) => {
    const { page } = admin;
    await admin.goTo("Appliance");
    await whileAgentIsHeld(async () => {
      await page.getByText(/: silent for \d+/).waitFor();
      await admin.goTo("Nodes");
      await page.getByText("silent").first().waitFor();
    });
    await page.getByText("ready").first().waitFor();
    await page.getByRole("table").getByRole("link").first().click();
    await admin.press("Drain");
    await page.getByRole("alertdialog").getByRole("button", { name: "Drain" }).click();
    await page.getByText("drained by an administrator").waitFor();
    await admin.press("Give it back to placement");
    await page.getByRole("button", { name: "Drain" }).waitFor();

    await admin.goTo("Nodes");
    await page.getByLabel("Name of the node").fill("node-of-the-cellar");
    await admin.act(
      () => admin.press("Make a token"),
      page.getByText(/The token of node-of-the-cellar, shown this once/),
    );
    t.same(admin.complaints, []);
  },
);

t.test("a lead takes a researcher in; outputs leave when an officer has approved", async (t) => {
  const lena = await SignedInPerson.signIn(browser, appliance, "lena");
  await lena.goTo("People");
  const members = lena.page.getByRole("region", { name: "Members of mammography" });
  // A member is somebody who has been here.
  const rosa = await SignedInPerson.signIn(browser, appliance, "rosa");
  await members.getByLabel("User name").fill("rosa");
  await lena.act(
    () => members.getByRole("button", { name: "Make a member" }).click(),
    members.getByRole("button", { name: "Take rosa out" }),
  );
  await lena.act(
    () => lena.page.getByRole("button", { name: "By approval alone" }).click(),
    lena.page.getByText("leave by approval alone from now on"),
  );

  const work = join(t.testdir(), "work");
  mkdirSync(work);
  const folder = join(work, "screens of March");
  await readyFolder(appliance, folder);
  await rosa.open("/submit");
  const { page } = rosa;
  await page.getByLabel("Folder").setInputFiles(folder);
  await page.getByRole("combobox", { name: /^Project/ }).selectOption({ label: "mammography" });
  await rosa.press("Upload and submit");
  await page
    .getByText("It finished, and its results are stored.")
    .waitFor({ timeout: 180_000 })
    .catch(async (error: unknown) => {
      throw new Error(await page.locator("main").innerText(), { cause: error });
    });
  jobOfRosa = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  await page.getByRole("tab", { name: "Files" }).click();
  const model = page.getByRole("button", { name: /^Download .*model_out\// }).first();
  await model.click();
  await page.getByRole("alert").getByText("export_controlled").waitFor();
  await page.getByLabel("Reason").fill("for the ethics board");
  await rosa.act(
    () => page.getByRole("button", { name: "Ask", exact: true }).click(),
    page.getByText("You have asked."),
  );

  if (sofie === null) throw new Error("there is no security officer");
  await sofie.goTo("Overview");
  await sofie.goTo("Approvals");
  await sofie.page.getByText("for the ethics board").waitFor();
  await approve(sofie);
  const [download] = await Promise.all([page.waitForEvent("download"), model.click()]);
  t.ok(readFileSync(await download.path()).length > 1_000, "the model is out");
  await lena.goTo("Approvals");
  await lena.page.getByText("rosa may read", { exact: false }).first().waitFor();
  await picturePages(t, rosa, [
    ["overview", "/"],
    ["jobs", "/jobs"],
    ["job-rounds", `/jobs/${jobOfRosa}/rounds`],
    ["job-curves", `/jobs/${jobOfRosa}/curves`],
    ["job-events", `/jobs/${jobOfRosa}/events`],
    ["job-logs", `/jobs/${jobOfRosa}/logs`],
    ["job-files", `/jobs/${jobOfRosa}/files`],
    ["job-inputs", `/jobs/${jobOfRosa}/inputs`],
    ["submit", "/submit"],
    ["storage", "/storage"],
    ["keys", "/keys"],
  ]);
  await picturePages(t, lena, [["people-of-lead", "/people"]]);
  await picturePages(t, sofie, [["approvals", "/approvals"]]);
  const bucket = await page.evaluate(
    async (id) =>
      (
        await fetch("/api/users/storage/bucket", { headers: { "x-rt-project": id } })
      ).json() as Promise<{ bucketAlias: string }>,
    project,
  );
  shards = `${bucket.bucketAlias}/jobs/screens-of-march/shards/`;
  // A refused download and a refused search are complaints of the browser, not of the page.
  for (const person of [lena, rosa, sofie])
    t.same(
      person.complaints.filter((text) => !/status of 403/.test(text)),
      [],
      person.name,
    );
});
t.test(
  "an auditor asks who read a data set, proves it, takes it away and verifies it",
  async (t) => {
    const otto = await SignedInPerson.signIn(browser, appliance, "otto");
    const { page } = otto;
    t.equal(new URL(page.url()).pathname, "/dashboard/audit", "where an auditor's day begins");
    await page.getByText("Search by fields").click();
    await page.getByLabel("Objects below").fill(shards);
    const entry = page.getByRole("link", { name: /^\d{4}\/\d+$/ }).first();
    for (let tries = 0; tries < 5_000 && (await entry.count()) === 0; tries++) {
      await Promise.all([page.waitForResponse(/\/api\/audit\/events\?/), otto.press("Search")]);
      // With an answer the form makes room.
      await page.getByText("Nothing found").or(entry).first().waitFor();
      await page.waitForTimeout(500);
    }
    await page.getByRole("cell", { name: "Read an object" }).first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      otto.press("Export what was found"),
    ]);
    const archive = unzipSync(readFileSync(await download.path()));
    const proofs = Object.keys(archive).filter((name) => name.startsWith("proofs/"));
    t.ok(proofs.length > 2, `${proofs.length} entries`);
    t.match(strFromU8(archive["READ-ME.txt"]!), `below = ${shards}`);
    const away = t.testdir();
    for (const [at, name] of proofs.entries()) {
      const file = join(away, `${at}.tlog-proof`);
      writeFileSync(file, archive[name]!);
      const { status, stdout } = spawnSync(
        process.execPath,
        [
          ...[join(root, "current", "app", "sov-verify.mjs"), file],
          ...["--policy", join(root, "data", "audit.policy"), "--require", "INTEGRITY,SIGNATURE"],
        ],
        { encoding: "utf8" },
      );
      t.equal(status, 0, stdout);
    }

    await entry.click();
    const verdicts = page.getByRole("group", { name: "What the proof shows" });
    await verdicts.getByRole("row", { name: /INTEGRITY.*PASS/ }).waitFor();
    await page.getByText("that is not independent").waitFor();
    const path = new URL(page.url()).pathname.slice("/dashboard".length);
    await picturePages(t, otto, [
      ["audit", `/audit?below=${encodeURIComponent(shards)}&asked=1`],
      ["audit-entry", path],
    ]);
    t.same(otto.complaints, []);
  },
);

t.test("each page of an administrator, in both themes and at two widths", async (t) => {
  const [node] = JSON.parse(await appliance.command(["node", "ls", "--json"])) as {
    node: string;
  }[];
  await picturePages(t, admin, [
    ["overview-of-admin", "/"],
    ["profile", "/profile"],
    ["nodes", "/nodes"],
    ["node", `/nodes/${node?.node}`],
    ["people", "/people"],
    ["appliance", "/appliance"],
  ]);
  t.same(admin.complaints, []);
});
