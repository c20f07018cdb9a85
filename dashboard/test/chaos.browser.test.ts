/** What the page shows when parts of the appliance go away under it, and that it catches up without a reload and without loss. */
import type { Page } from "playwright-core";
import t from "tap";
import type { ApplianceRole } from "@resontech/coordinator/roles";
import { DashboardHouse } from "./helper/dashboard-house.ts";

t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { running } = house;
const ada = await house.addUser("ada");
const agent = await house.addNode("node-a", 2);
await agent.beat([]);
const job = await house.submit(ada, "watched");
const members = await agent.desiredOf(job, 3);
const [server] = members as [(typeof members)[0]];
await agent.bringUp(members);
await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
let round = 0;
/** The next round begins, and so many more. */
async function startRounds(count = 1): Promise<void> {
  for (let i = 0; i < count; i++)
    await agent.report(server, { kind: "round-started", round: ++round, numRounds: 99 });
}
await startRounds();

/** A window that knows whether it was loaded again. */
async function watch(
  path: string,
  userId = ada.userId,
  roles: readonly ApplianceRole[] = [],
): Promise<Page> {
  const context = await house.windowOf(userId, { roles });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${running.url}/dashboard${path}`);
  await page.evaluate("globalThis.isFirst = true");
  return page;
}
const isFirstLoad = (page: Page) => page.evaluate("globalThis.isFirst === true");
const inRound = (page: Page) =>
  page.getByText(`It runs on 2 sites, in round ${round} of 99.`).waitFor();

t.test("a killed coordinator: the page says since when, and follows again", async (t) => {
  const page = await watch(`/jobs/${job}`);
  await inRound(page);
  await page.getByText("live", { exact: true }).waitFor();
  await running.stop("SIGKILL");
  await page.getByText(/^not live since/).waitFor();
  await inRound(page);
  await running.start();
  await startRounds();
  await inRound(page);
  await page.getByText("live", { exact: true }).waitFor();
  t.ok(await isFirstLoad(page));
});

t.test(
  "a page whose network was away shows everything that happened meanwhile, once",
  async (t) => {
    const page = await watch(`/jobs/${job}/rounds`);
    const rows = page.getByRole("table", { name: "Rounds" }).getByRole("row");
    const shown = async () => (await rows.locator("td:first-child").allTextContents()).map(Number);
    const all = () => Array.from({ length: round }, (_, at) => round - at);
    await rows.nth(round).waitFor();
    await page.context().setOffline(true);
    const before = all();
    await startRounds(10);
    t.same(await shown(), before, "it hears nothing");
    await page.context().setOffline(false);
    await rows.nth(round).waitFor();
    await startRounds();
    await rows.nth(round).waitFor();
    t.same(await shown(), all(), "none is lost and none is there twice");
    t.ok(await isFirstLoad(page));
  },
);

t.test("a slow reader holds nobody up, and comes to the same end", async (t) => {
  const [slow, quick] = [await watch(`/jobs/${job}`), await watch(`/jobs/${job}`)];
  for (const page of [slow, quick]) await inRound(page);
  const debuggerOf = await slow.context().newCDPSession(slow);
  await debuggerOf.send("Debugger.enable");
  await debuggerOf.send("Debugger.pause");
  void slow.evaluate("1").catch(() => {});
  await startRounds(16);
  await inRound(quick);
  await debuggerOf.send("Debugger.resume");
  await debuggerOf.send("Debugger.disable");
  await inRound(slow);
  t.ok(await isFirstLoad(slow));
});

t.test(
  "an audit log that takes nothing: what acts is off, says why, and is on again",
  async (t) => {
    const page = await watch(`/jobs/${job}`);
    await inRound(page);
    await running.auditd.stop("SIGKILL");
    const cancel = page.getByRole("button", { name: "Cancel the job" });
    await cancel.first().click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText("The audit log takes no record").waitFor();
    await page.getByRole("alertdialog").getByText("audit_unavailable").waitFor();
    t.ok(
      await page
        .getByRole("alertdialog")
        .getByRole("button", { name: "Cancel the job" })
        .isDisabled(),
    );
    await running.auditd.start();
    await page.getByText("The audit log takes no record").waitFor({ state: "detached" });
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText("ada asked it to stop, and its members end.").waitFor();
    t.ok(await isFirstLoad(page));
  },
);

t.test("a session that ends while a job is watched leaves what was read", async (t) => {
  const page = await watch(`/jobs/${job}`);
  await page.getByText("ada asked it to stop, and its members end.").waitFor();
  const csrf = await page.evaluate(
    async () => ((await (await fetch("/api/session")).json()) as { csrfToken: string }).csrfToken,
  );
  const status = await page.evaluate(
    async (token) =>
      (
        await fetch("/auth/sign-out", {
          method: "POST",
          headers: { "x-rt-csrf": token, "content-type": "application/json" },
          body: "{}",
        })
      ).status,
    csrf,
  );
  t.equal(status, 200);
  const again = page.getByRole("link", { name: "Sign in again" });
  await again.waitFor();
  t.match(await again.getAttribute("href"), encodeURIComponent(`/dashboard/jobs/${job}`));
  await page.getByText("ada asked it to stop, and its members end.").waitFor();
});

t.test("who does nothing is told before the session ends, and stays by moving", async (t) => {
  const context = await house.windowOf(ada.userId);
  const page = await context.newPage();
  await page.clock.install();
  let asked = 0;
  await page.route("**/api/session", async (route) => {
    const answer = await route.fetch();
    const told = (await answer.json()) as { idleInS: number };
    asked += 1;
    // The page's clock is turned on, the appliance's is not.
    await route.fulfill({
      response: answer,
      json: { ...told, idleInS: asked === 1 ? told.idleInS : 119 },
    });
  });
  await page.goto(`${running.url}/dashboard/`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.clock.fastForward("12:50");
  t.equal(asked, 1);
  await page.clock.fastForward("00:15");
  const notice = page.getByText("in two minutes your session ends");
  await notice.waitFor();
  t.equal(asked, 2);
  const stayed = page.waitForRequest("**/api/session/activity");
  await page.mouse.move(200, 200);
  await page.mouse.move(220, 220);
  await stayed;
  await notice.waitFor({ state: "detached" });
});

t.test(
  "a bus that is cut off is named to who runs the box, and gone from the page after",
  async (t) => {
    const root = await house.addUser("root");
    const page = await watch("/appliance", root.userId, ["platform-admin"]);
    await page.getByRole("region", { name: "Work" }).waitFor();
    await running.nats.cut();
    const down = page.getByText("the coordinator has lost NATS");
    try {
      await down.waitFor({ timeout: 60_000 });
    } finally {
      await running.nats.mend();
    }
    await down.waitFor({ state: "detached", timeout: 60_000 });
    t.ok(await isFirstLoad(page));
  },
);
