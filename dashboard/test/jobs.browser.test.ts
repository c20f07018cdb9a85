/** Jobs in a real browser against the real coordinator: what the page shows follows by itself, and nothing breaks its policy. */
import type { Page } from "playwright-core";
import t from "tap";
import { accessibilityFaults } from "./helper/accessibility.ts";
import { DashboardHouse } from "./helper/dashboard-house.ts";

t.setTimeout(180_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const ada = await house.addUser("ada");
const agent = await house.addNode("node-a", 2);
await agent.beat([]);

/** A page of Ada's that keeps what the browser complains of. */
async function pageOf(
  look: { bypassPolicy?: boolean } = {},
): Promise<{ page: Page; complaints: string[] }> {
  const context = await house.windowOf(ada.userId, look);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
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
  await page.getByText(/needs 2 workers; 0 of 2 would do now/).waitFor();

  await page.getByRole("link", { name: "digits" }).click();
  await page.getByText("It runs on 2 sites, in round 1 of 3.").waitFor();
  t.equal(new URL(page.url()).pathname, `/dashboard/jobs/${first}`);
  await page.getByRole("tab", { name: "Curves" }).click();
  await page.getByText("No curve yet").waitFor();
  await agent.report(server, { kind: "metric", site: "site-1", value: '{"round":1,"loss":0.5}' });
  await page.locator("figcaption", { hasText: "loss by round" }).waitFor();

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
  await page.getByText("It was asked to stop, and its members end.").waitFor();
  t.same(complaints, []);
  t.ok(second);
});

t.test("every view of a job and the list break no rule of accessibility", async (t) => {
  const { page, complaints } = await pageOf({ bypassPolicy: true });
  await page.goto(`${house.running.url}/dashboard/jobs`);
  await page.getByRole("link", { name: "digits" }).waitFor();
  t.same(await accessibilityFaults(page), []);
  await page.getByRole("link", { name: "digits" }).click();
  for (const tab of ["Rounds", "Curves", "Events", "Logs", "Files", "Inputs"]) {
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
