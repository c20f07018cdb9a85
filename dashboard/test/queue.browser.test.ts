/** The page Queue, and why one job waits, in a real browser against the real coordinator: who waits, who holds, whose the workers are. */
import type { Page } from "playwright-core";
import t from "tap";
import type { ApplianceRole } from "@resontech/coordinator/roles";
import { upload } from "@resontech/coordinator/testing/workspace";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { pageOverflow } from "@resontech/house/page-overflow";
import { DashboardHouse } from "./helper/dashboard-house.ts";
import { listFaults } from "./helper/list-faults.ts";
import { shotsOf } from "./helper/shots.ts";

t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { running } = house;
const [ada, bert, root, olga] = [
  ...[await house.addUser("ada"), await house.addUser("bert")],
  ...[await house.addUser("root"), await house.addUser("olga")],
] as const;
running.giveRoles(olga.userId, ["security-officer"]);

async function pageOf(
  userId: string,
  path: string,
  roles: readonly ApplianceRole[] = [],
): Promise<Page> {
  const context = await house.windowOf(userId, { roles, bypassPolicy: true });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${running.url}/dashboard${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

const waiting = (page: Page) => page.getByRole("table", { name: "Waiting jobs" });
const shares = (page: Page) => page.getByRole("region", { name: "Shares" });

t.test("an empty queue says so, and where to begin", async (t) => {
  const page = await pageOf(ada.userId, "/queue");
  await page.getByText("No job waits.").waitFor();
  await page.getByText("Nobody holds a worker.").waitFor();
  await shares(page).getByText("Nobody is guaranteed anything").waitFor();
  await page.getByRole("link", { name: "Submit a job" }).waitFor();
  t.same(await accessibilityFaults(page), []);
});

t.test("who waits sees for whom, until when, and why", async (t) => {
  const agent = await house.addNode("node-a", 2);
  const held = await house.submit(ada, "held");
  await agent.desiredOf(held, 3);
  await house.submit(bert, "mine");
  const page = await pageOf(bert.userId, "/");
  await page.getByRole("link", { name: "Queue" }).click();
  await waiting(page).getByRole("link", { name: "mine" }).waitFor();
  await waiting(page)
    .getByRole("cell", { name: "Unknown: a job before it states no time limit" })
    .waitFor();
  const holders = page.getByRole("table", { name: "Who holds workers" });
  await holders.getByRole("cell", { name: "Another project" }).waitFor();
  t.match(await holders.innerText(), /train\s+2 cpu/);
  t.notMatch(await page.locator("main").innerText(), /ada|held/, "nothing of others is named");
  await shotsOf(page)("queue");

  await waiting(page).getByRole("link", { name: "mine" }).click();
  const why = page.getByRole("region", { name: "Why it waits" });
  await why.getByText("It takes 2. Of 2 workers 2 would do when they are free.").waitFor();
  await why.getByText("2 busy").waitFor();
  await why.getByRole("cell", { name: "Another project" }).waitFor();
  const places = why.getByRole("table", { name: "How good each place that would do is now" });
  await places.getByRole("row", { name: /node-a cpu/ }).waitFor();
  await shotsOf(page)("job-waits");
  t.same(await accessibilityFaults(page), []);
});

t.test("where a job is, each factor of its place stands on its page", async (t) => {
  const page = await pageOf(ada.userId, "/");
  await page.getByRole("link", { name: "held" }).first().click();
  await page.getByRole("tab", { name: "Use" }).click();
  const here = page.getByRole("region", { name: "Why it is here" });
  const places = here.getByRole("table", { name: "How good each place is now" });
  const row = places.getByRole("row", { name: /node-a cpu/ });
  await row.waitFor();
  for (const title of ["Node", "Model", "Score", "Uptime", "Load", "Price"])
    await places.getByRole("columnheader", { name: title }).waitFor();
  const cells = await row.getByRole("cell").allInnerTexts();
  t.match(cells.slice(0, 2), ["node-a", "cpu"]);
  t.match(cells[2], /^(1|0\.\d{1,3})$/, "the product of its factors");
  await shotsOf(page)("job-score");
  t.same(await accessibilityFaults(page), []);
});

t.test("an administrator raises a share, and asks before one is lowered", async (t) => {
  const page = await pageOf(root.userId, "/queue", ["platform-admin"]);
  await waiting(page).getByRole("code").waitFor();
  t.notMatch(await waiting(page).innerText(), /mine/, "a job's name is its people's");
  const buttons = shares(page).getByRole("button", { name: /^Change the share of/ });
  await buttons.first().waitFor();
  t.equal(await buttons.count(), 5, "of the organisation and of everybody's project");
  const name = new RegExp(`hare of default, ${bert.project}$`);
  const change = page.getByRole("button", { name });
  const form = page.getByRole("form", { name });
  await change.click();
  await form.getByLabel("Guarantee of cpu").fill("2");
  await form.getByText("Guarantee: none → 2 cpu").waitFor();
  await form.getByLabel("Most waiting jobs of one person").fill("20");
  await form.getByText("Waiting jobs a person: any number → 20").waitFor();
  await form.getByRole("button", { name: "Set the share" }).click();
  await shares(page).getByText("guaranteed 2, 0 of them used").first().waitFor();
  await shares(page).getByText("20 waiting jobs a person").waitFor();

  await change.click();
  await form.getByLabel("At most of cpu").fill("1");
  await form.getByRole("button", { name: "Set the share" }).click();
  await form.getByText("A security officer has to agree.").waitFor();
  await form.getByLabel("Reason").fill("the node goes");
  await shotsOf(page)("share-form");
  t.same(await accessibilityFaults(page), []);
  await form.getByRole("button", { name: "Ask a second person" }).click();
  await form.getByText("The share stays as it is").waitFor();
  const officer = await pageOf(olga.userId, "/approvals", ["security-officer"]);
  const request = officer.getByRole("region", { name: /^the share of .* becomes limit 1 cpu$/i });
  await request.getByText("the node goes").waitFor();
  await request.getByRole("button", { name: "Approve" }).click();
  await officer.getByRole("alertdialog").getByRole("button", { name: "Approve" }).click();
  await request.getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
  await page.reload();
  await shares(page).getByText("at most 1").first().waitFor();
  await shotsOf(page)("queue-of-administrator");
});

t.test("an auditor sees whose the workers are, and no job", async (t) => {
  const page = await pageOf(root.userId, "/queue", ["compliance-auditor"]);
  await shares(page).getByText("guaranteed 2").first().waitFor();
  t.equal(await waiting(page).count(), 0);
  t.equal(
    await shares(page)
      .getByRole("button", { name: /^Change/ })
      .count(),
    0,
  );
});

t.test("the page is for every hand, screen and theme", async (t) => {
  const page = await pageOf(root.userId, "/queue", ["platform-admin"]);
  await shares(page).getByText("guaranteed 2").first().waitFor();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    t.same(await accessibilityFaults(page), [], colorScheme);
  }
  // By keyboard alone.
  const change = shares(page)
    .getByRole("button", { name: /^Change the share of/ })
    .first();
  await change.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("form", { name: /^Share of/ }).waitFor();
  t.equal(await change.getAttribute("aria-expanded"), "true");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("columnheader", { name: "More" }).first().waitFor();
  t.equal(await pageOverflow(page), 0);
  t.same(await listFaults(page), []);
  t.same(await accessibilityFaults(page), []);
  await page.route("**/api/shares", (route) => route.abort());
  await page.reload();
  await page.getByRole("alert").getByText("the appliance did not answer").first().waitFor();
});

t.test("an array shows what came of each of its jobs, and is cancelled by keyboard", async (t) => {
  const page = await pageOf(ada.userId, "/arrays");
  await page.getByText("No array").waitFor();
  await upload(running.s3, ada.bucketAlias, "fit", { "scripts/fit.py": "print('fits')\n" });
  const { status, body } = await running.request("POST", "/api/arrays", ada.platformKey, {
    task: { kind: "command", name: "fit", scriptPath: "/jobs/fit/scripts/fit.py" },
    grid: [
      { name: "lr", values: ["0.1", "0.01"] },
      { name: "depth", values: ["9", "10"] },
    ],
    atOnce: 3,
  });
  t.equal(status, 201, JSON.stringify(body));
  await page.reload();
  await page.getByRole("row", { name: /fit\s+4\s+4 wait\s+3/ }).waitFor();
  await page.getByRole("link", { name: "fit" }).click();
  const jobs = page.getByRole("table", { name: "Jobs of fit" });
  await jobs.getByRole("row", { name: /3\s+0\.01\s+10\s+waiting/ }).waitFor();
  await jobs.getByRole("columnheader", { name: "depth" }).getByRole("button").press("Enter");
  const depths = await jobs.getByRole("row").allInnerTexts();
  t.match(depths[1], /\t9\t/, "as numbers: 9 comes before 10");
  await shotsOf(page)("array");
  t.same(await accessibilityFaults(page), []);
  await page.getByRole("button", { name: "Cancel the array" }).press("Enter");
  await page.getByRole("button", { name: "Cancel them" }).press("Enter");
  await page.getByText("4 did not finish.", { exact: false }).waitFor();
  t.equal(await page.getByRole("button", { name: "Cancel the array" }).count(), 0);
});
