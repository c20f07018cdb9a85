/** Jobs in a real browser against the real coordinator: what the page shows follows by itself, and nothing breaks its policy. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import t from "tap";
import { commitRound } from "@resontech/coordinator/testing/commit-round";
import { CLEAN } from "@resontech/coordinator/testing/scripted-agent";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { pageOverflow } from "@resontech/house/page-overflow";
import { DashboardHouse } from "./helper/dashboard-house.ts";
import { listFaults } from "./helper/list-faults.ts";
import { shotsOf } from "./helper/shots.ts";

t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const ada = await house.addUser("ada");
const stranger = await house.addUser("stranger");
const agent = await house.addNode("node-a", 2);
await agent.beat([]);

const images = process.env["RT_IMAGES"];
async function shot(page: Page, name: string): Promise<void> {
  if (images !== undefined)
    await page.screenshot({ path: `${images}/${name}.png`, fullPage: true });
}

/** A page of Ada's that keeps what the browser complains of. */
async function pageOf(
  look: { bypassPolicy?: boolean } = {},
): Promise<{ page: Page; complaints: string[] }> {
  const context = await house.windowOf(ada.userId, look);
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { page, complaints };
}

t.test("a researcher sees a job wait, run, print and end without a reload", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/jobs`);
  await page.getByText("No job yet").waitFor();
  const first = await house.submit(ada, "digits");
  await page.getByRole("button", { name: "1 new job" }).click();
  await page.getByRole("link", { name: "digits" }).waitFor();
  const members = await agent.desiredOf(first, 3);
  const [server, client] = members as [(typeof members)[0], (typeof members)[0]];
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  await agent.report(server, { kind: "round-started", round: 1, numRounds: 3 });
  await page.getByText("round 1 of 3").waitFor();

  const second = await house.submit(ada, "waits");
  await page.getByRole("button", { name: "1 new job" }).click();
  await page.getByText(/^Needs 2 workers; 0 of 2 would do now/).waitFor();

  await page.getByRole("link", { name: "digits" }).click();
  await page.getByText("It runs on 2 sites, in round 1 of 3.").waitFor();
  await page.waitForURL(`**/dashboard/jobs/${first}`);
  await page.getByRole("tab", { name: "Curves" }).click();
  await page.getByText("No curve yet").waitFor();
  await agent.report(server, { kind: "metric", site: "site-1", value: '{"round":1,"loss":0.5}' });
  await page.locator("figcaption", { hasText: "loss by round" }).waitFor();

  await page.getByRole("tab", { name: "GPU" }).click();
  await page.getByText("No device has told yet").waitFor();
  const use = (utilizationPercent: number, ageMs: number) => ({
    ...{ worker: client.resources.workers[0]!, memoryInUseBytes: 3 * 1024 ** 3, ageMs },
    ...{ utilizationPercent, powerWatts: 250 },
  });
  await agent.beat(members, [use(40, 5_000)]);
  await page.locator("figcaption", { hasText: /^Use,/ }).waitFor();
  await agent.beat(members, [use(90, 0), { ...use(99, 0), worker: "node-b-0" }]);
  const used = page.getByRole("figure").filter({ hasText: /^Use,/ });
  await used.getByText("Figures as a table").click();
  await used.getByRole("row", { name: /site-1 on node-a-\d.* 90 % 40 % 90 %$/ }).waitFor();
  t.equal(
    await used.getByRole("group").getByRole("row").count(),
    2,
    "no node tells of another's devices",
  );
  await page.locator("figcaption", { hasText: "Memory in use" }).waitFor();
  await page.locator("figcaption", { hasText: "Power" }).waitFor();
  await page.reload();
  await used.getByText("Figures as a table").click();
  await used.getByRole("row", { name: /site-1 on node-a-\d.* 90 % 40 % 90 %$/ }).waitFor();
  t.equal(
    (await house.running.get(`/api/jobs/${first}/devices`, stranger.platformKey)).status,
    404,
    "who is not of the project is told of none",
  );

  await page.getByRole("tab", { name: "Logs" }).click();
  await page.getByLabel("Log of").selectOption({ label: "site-1, attempt 1" });
  const print = async (offset: number, text: string) =>
    await agent.tail({
      ...{ job: first, member: client.member, offset, bytes: Buffer.byteLength(text), text },
    });
  await print(0, "epoch one\n");
  await page.getByText("epoch one").waitFor();
  const hostile = '\u001b[31mred</span><img src=x onerror="alert(1)">\u0000\n';
  await print(10, hostile);
  await page.getByText("<img src=x").waitFor();
  t.equal(await page.locator("main img").count(), 0, "what a job prints is text");

  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: "Cancel the job" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Cancel the job" }).click();
  // Of who asked the page hears, though nobody loads it anew.
  await page.getByText("ada asked it to stop, and its members end.").waitFor();

  // Its only round ended with weights that are no numbers, and was committed.
  await agent.report(server, { kind: "round-ended", round: 1, sites: ["site-1"], isFinite: false });
  await page.getByRole("tab", { name: "Rounds" }).click();
  await page.getByRole("cell", { name: "holds no numbers (NaN)" }).waitFor();
  await commitRound(agent, server, 1);
  for (const member of members) await agent.report(member, CLEAN);
  await page.getByText("It was cancelled.").waitFor();
  await page.getByText("ada cancelled the job.").waitFor();
  await page
    .getByRole("link", {
      name: /^of round 1, the last that was stored before the end; it holds values that are no numbers/,
    })
    .click();
  await page.getByRole("button", { name: /Download .*model_out.checkpoint.pt/ }).waitFor();
  await shot(page, "job-cancelled");
  t.same(complaints, []);
  t.ok(second);
});

t.test(
  "a text is found in the logs of all sites, by keyboard, and a log is taken away whole",
  async (t) => {
    const { page, complaints } = await pageOf();
    await page.goto(`${house.running.url}/dashboard/jobs`);
    await page.getByRole("link", { name: "digits" }).click();
    await page.getByRole("tab", { name: "Logs" }).waitFor();
    const job = new URL(page.url()).pathname.split("/").at(-1)!;
    const members = await house.membersOf(ada, job);
    const lines = (site: string) =>
      Array.from({ length: 3_000 }, (_, at) => `${site} step ${at} Loss ${at}\n`).join("");
    for (const { member, site } of members) await house.storeLog(ada, job, member, lines(site));
    await page.getByRole("tab", { name: "Logs" }).click();
    await page.getByLabel("Log of").waitFor();
    await page.getByRole("tab", { name: "Logs" }).focus();
    await page.keyboard.press("/");
    await page.keyboard.type("loss 1234");
    await page.keyboard.press("Enter");
    const status = page.getByRole("search").getByRole("status");
    await status.getByText(`1 of ${members.length}`).waitFor();
    const matches = page.getByRole("list", { name: "Matches" }).getByRole("listitem");
    t.equal(await matches.count(), members.length);
    t.match(
      await matches.first().locator("pre").textContent(),
      /step 1232 .*\n.*step 1233 .*\n.*Loss 1234\n/,
    );
    t.equal(await matches.first().locator("mark").textContent(), "Loss 1234");
    await page.keyboard.press("Shift+Enter");
    await status.getByText(`${members.length} of ${members.length}`).waitFor();
    await page.keyboard.press("Enter");
    await status.getByText(`1 of ${members.length}`).waitFor();
    await matches.nth(1).getByRole("button", { name: "Show in its log" }).click();
    const shown = page.getByRole("log").locator("[aria-current]");
    await shown.waitFor();
    t.match(await shown.textContent(), /step 1234 Loss 1234/);
    t.same(await accessibilityFaultsOfSearch(), []);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download the whole log" }).click(),
    ]);
    t.equal(readFileSync(await download.path(), "utf8"), lines(members[1]!.site));
    await page.getByRole("searchbox").focus();
    await page.keyboard.press("Escape");
    await matches.first().waitFor({ state: "detached" });
    t.same(complaints, []);

    async function accessibilityFaultsOfSearch(): Promise<string[]> {
      const { page: free } = await pageOf({ bypassPolicy: true });
      await free.goto(page.url());
      await free.getByRole("searchbox").fill("loss 12");
      await free.keyboard.press("Enter");
      await free.getByRole("list", { name: "Matches" }).waitFor();
      return await accessibilityFaults(free);
    }
  },
);

t.test("every view of a job and the list break no rule of accessibility", async (t) => {
  const { page, complaints } = await pageOf({ bypassPolicy: true });
  await page.goto(`${house.running.url}/dashboard/jobs`);
  await page.getByRole("link", { name: "digits" }).waitFor();
  t.same(await accessibilityFaults(page), []);
  await page.getByRole("link", { name: "digits" }).click();
  for (const tab of ["Rounds", "Curves", "Use", "GPU", "Events", "Logs", "Files", "Inputs"]) {
    await page.getByRole("tab", { name: tab }).click();
    await page.waitForTimeout(300);
    t.same(await accessibilityFaults(page), [], tab);
  }
  await page.locator("main").evaluate((main: { innerHTML: string }) => {
    main.innerHTML = "<img>";
  });
  t.match(await accessibilityFaults(page), [/^image-alt/], "a fault would be found");
  t.same(complaints, []);
});

t.test("a filter that has a name is a click away, and forgotten when asked", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/jobs`);
  await page.getByLabel("Name or id").fill("digi");
  await page.getByLabel("Name of this view").fill("digits of mine");
  await page.getByRole("button", { name: "Save the view" }).click();
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page.getByRole("link", { name: "waits" }).waitFor();
  await page.getByRole("link", { name: "digits of mine" }).click();
  await page.getByRole("link", { name: "waits" }).waitFor({ state: "detached" });
  t.equal(await page.getByLabel("Name or id").inputValue(), "digi");
  await page.getByRole("button", { name: "Forget the view digits of mine" }).click();
  await page.getByRole("link", { name: "digits of mine" }).waitFor({ state: "detached" });
  t.same(complaints, []);
});

t.test("what members used stands on one axis, or the page says why it does not", async (t) => {
  const { page, complaints } = await pageOf();
  const atS = Math.floor(Date.now() / 60_000) * 60 - 600;
  const of = (site: string) => ({ member: `m-${site}`, site, attempt: "1", node: "node-a" });
  const curve = (measure: string, unit: string, site: string, values: (number | null)[]) => ({
    ...{ measure, unit, values, of: of(site) },
  });
  let isAway = true;
  await page.route(/\/api\/jobs\/[^/]+\/use\?/, (route) =>
    isAway
      ? route.fulfill({
          status: 503,
          json: {
            ...{ code: "figures_away", message: "the figures are away" },
            hint: "Look at the part prometheus.",
          },
        })
      : route.fulfill({
          json: {
            ...{ fromS: atS, toS: atS + 120, stepS: 60, keptDays: 15 },
            series: [
              curve("cpu", "cores", "site-1", [1, 1.5, 2]),
              curve("cpu", "cores", "site-2", [0.5, null, 0.25]),
              curve("memory", "bytes", "site-1", [2 ** 30, 2 ** 30, 2 ** 31]),
              curve("memory_limit", "bytes", "site-1", [2 ** 32, 2 ** 32, 2 ** 32]),
            ],
          },
        }),
  );
  await page.goto(`${house.running.url}/dashboard/jobs`);
  await page.getByRole("link", { name: "digits" }).click();
  await page.getByRole("tab", { name: "Use" }).click();
  await page.getByText("Look at the part prometheus.").waitFor();
  isAway = false;
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText(/Curves are kept for 15 days\./).waitFor();
  const processor = page.getByRole("figure").filter({ hasText: "Processor" });
  await processor.getByRole("listitem").filter({ hasText: "site-1 2 cores" }).waitFor();
  await processor.getByRole("listitem").filter({ hasText: "site-2 0.25 cores" }).waitFor();
  const memory = page.getByRole("figure").filter({ hasText: "Memory" });
  await memory.getByRole("listitem").filter({ hasText: "limit 4.0 GiB" }).waitFor();

  await processor.getByRole("button", { name: "site-2" }).click();
  await processor.getByRole("button", { name: "site-2", pressed: true }).waitFor();
  const chart = processor.getByRole("group", { name: /Processor/ });
  await chart.locator("canvas").waitFor();
  await chart.focus();
  await page.keyboard.press("+");
  await page.getByRole("button", { name: "Show all" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByText(/Drag over a chart to zoom in/).waitFor();
  await page.waitForFunction("document.title === '● digits · cancelled – ResonTech'");
  t.match(await page.locator("link[rel=icon]").getAttribute("href"), /^data:image\/svg/);
  t.same(
    complaints.filter((one) => !one.includes("503")),
    [],
  );
});

t.test("the overview leads to what waits, and a list is put in order by its heads", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard`);
  const glance = page.getByRole("list", { name: "At a glance" });
  await glance.getByRole("link", { name: /Waiting jobs\s*[01]/ }).waitFor();
  await page.getByRole("region", { name: "Your jobs that ended" }).getByText("digits").waitFor();
  await page.waitForFunction("document.title === 'Overview – ResonTech'");
  await glance.getByRole("link", { name: /Failed jobs/ }).click();
  await page.getByRole("button", { name: /^Failed/, pressed: true }).waitFor();

  await page.getByRole("button", { name: /^All/ }).click();
  await page.getByRole("link", { name: "digits" }).waitFor();
  const names = async () =>
    await page.getByRole("table").locator("tbody tr td:nth-child(3)").allTextContents();
  await page.getByRole("button", { name: "Name" }).click();
  await page
    .getByRole("columnheader", { name: "Name" })
    .and(page.locator("[aria-sort=ascending]"))
    .waitFor();
  t.same(await names(), ["digits", "waits"]);
  await page.getByRole("button", { name: "Name" }).press("Enter");
  await page.locator("th[aria-sort=descending]").waitFor();
  t.same(await names(), ["waits", "digits"]);
  t.same(complaints, []);
});

t.test("on a narrow window the page and the view that are open are in sight", async (t) => {
  const { page } = await pageOf();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${house.running.url}/dashboard/jobs`);
  await page.getByRole("link", { name: "digits" }).click();
  await page.getByRole("tab", { name: "Rounds" }).waitFor();
  await page.goto(`${page.url().replace(/\/rounds$/, "")}/inputs`);
  // A line of names is moved once it is drawn.
  const isInSight = async (selector: string) =>
    await page.waitForFunction(`(() => {
      const { left, right } = document.querySelector("${selector}").getBoundingClientRect();
      return left >= 0 && right <= 390;
    })()`);
  await page.getByRole("tab", { name: "Inputs", selected: true }).waitFor();
  t.ok(await isInSight("[role=tab][aria-selected=true]"));
  await page.goto(`${house.running.url}/dashboard/audit`);
  await page.getByRole("heading", { name: "Audit log" }).waitFor();
  t.ok(await isInSight("nav [aria-current=page]"));
  t.equal(await pageOverflow(page), 0, "no page is wider than its window");
});

t.test(
  "a job leads to those before and behind it, and what repeats stands below the list",
  async (t) => {
    const { page, complaints } = await pageOf({ bypassPolicy: true });
    const first = await house.submit(ada, "comes-first");
    const after = [{ job: first, when: "ended" }];
    const next = await house.submit(ada, "comes-next", { after });
    const made = await house.running.request("POST", "/api/schedules", ada.platformKey, {
      ...{ name: "nightly", cron: "0 3 * * *", timeZone: "Europe/Berlin", job: first },
    });
    t.equal(made.status, 201, JSON.stringify(made.body));
    await page.goto(`${house.running.url}/dashboard/jobs/${next}`);
    await page.getByText(`Waits for ${first} (comes-first) to end`).waitFor();
    t.same(await accessibilityFaults(page), []);
    await page.getByRole("link", { name: "comes-first" }).click();
    await page.waitForURL(`**/dashboard/jobs/${first}`);
    await page.getByRole("link", { name: "comes-next" }).waitFor();

    await page.goto(`${house.running.url}/dashboard/jobs`);
    const list = page.getByRole("table", { name: "Jobs that repeat" });
    const row = list.getByRole("row").filter({ hasText: "nightly" });
    await row.getByText("0 3 * * * Europe/Berlin").waitFor();
    await row.getByText("none yet").waitFor();
    t.same(await accessibilityFaults(page), []);
    t.equal(await pageOverflow(page), 0);
    await row.getByRole("button", { name: "Pause" }).click();
    await row.getByText("Paused").waitFor();
    await row.getByRole("button", { name: "Resume" }).click();
    await row.getByRole("button", { name: "Pause" }).waitFor();
    await row.getByRole("button", { name: "Remove nightly" }).click();
    const question = page.getByRole("alertdialog");
    await question.getByRole("button", { name: "Remove the schedule" }).click();
    await list.waitFor({ state: "detached" });
    t.same(complaints, []);
  },
);

t.test("on a phone lists fold: a row is its name and two lines, and opens", async (t) => {
  const context = await house.windowOf(ada.userId, { width: 390, height: 844, bypassPolicy: true });
  const page = await context.newPage();
  const why = "needs 2 workers; 0 of 12 would do now; excluded: 4 busy, 3 of other models";
  await page.route(/\/api\/jobs(?:\?|$)/, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { jobs: object[] };
    const jobs = body.jobs.map((job) => ({ ...job, state: "QUEUED", waitingFor: why.repeat(3) }));
    await route.fulfill({ response, json: { ...body, jobs } });
  });
  await page.goto(`${house.running.url}/dashboard/jobs`);
  const list = page.getByRole("table", { name: "Jobs, newest first" });
  const row = list.getByRole("row").filter({ hasText: "waits" });
  await row.getByText(/^Needs 2 workers/).waitFor();
  t.same(await list.getByRole("columnheader").allInnerTexts(), ["Tick", "Name", "More"]);
  t.same(await listFaults(page), []);
  t.equal(await pageOverflow(page), 0);
  t.same(await accessibilityFaults(page), []);
  const more = row.getByRole("button", { name: "More" });
  await more.press("Enter");
  await row.getByRole("button", { name: "More", expanded: true }).waitFor();
  const opened = list.locator("dl");
  t.match(await opened.innerText(), /Owner\s+ada\s/);
  await shotsOf(page)("jobs");
  t.same(await listFaults(page), []);
  t.equal(await pageOverflow(page), 0);
  t.same(await accessibilityFaults(page), []);
  await more.press("Enter");
  await opened.waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1280, height: 800 });
  await list.getByRole("columnheader", { name: "Owner" }).waitFor();

  const admin = await house.windowOf(ada.userId, {
    ...{ roles: ["platform-admin"], width: 390, height: 844, bypassPolicy: true },
  });
  const nodes = await admin.newPage();
  await nodes.goto(`${house.running.url}/dashboard/nodes`);
  await nodes.getByRole("table", { name: "Nodes" }).getByText("node-a").waitFor();
  await shotsOf(nodes)("nodes");
  t.same(await listFaults(nodes), []);
  t.equal(await pageOverflow(nodes), 0);
  t.same(await accessibilityFaults(nodes), []);
});
