/** Deployments in a real browser, called from the page through the real gateway to a real replica; nothing breaks the page's policy. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import t from "tap";
import { TestGateway } from "@resontech/inference-gateway/testing/test-gateway";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { DashboardHouse } from "./helper/dashboard-house.ts";

t.setTimeout(600_000);
const gateway = await TestGateway.make();
t.teardown(() => gateway[Symbol.asyncDispose]());
const house = await DashboardHouse.open(undefined, gateway.certificateSha256);
t.teardown(() => house[Symbol.asyncDispose]());
await gateway.open(house.running);
const ada = await house.addUser("ada");
const agent = await house.addNode("node-a", 2);
await gateway.register(agent, 2);
let held: Awaited<ReturnType<typeof agent.desiredOf>> = [];
// As a real agent does: so its leases last.
const beats = setInterval(() => void agent.beat(held).catch(() => {}), 2_000);
t.teardown(() => clearInterval(beats));

/** A page of Ada's that keeps what the browser complains of. */
async function pageOf(
  look: { bypassPolicy?: boolean; dark?: boolean; width?: number } = {},
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

let deployed = { id: "", key: "" };

t.test("a deployment appears, answers, is called, gets a new key and stops", async (t) => {
  const { page, complaints } = await pageOf();
  const jobs = (await pageOf()).page;
  await jobs.goto(`${house.running.url}/dashboard/jobs`);
  await jobs.getByText("No job yet").waitFor();
  await page.goto(`${house.running.url}/dashboard`);
  await page.getByRole("link", { name: "Inference" }).click();
  await page.getByText("Nothing is deployed").waitFor();
  deployed = await house.deploy(ada, "echo");
  await page.getByRole("link", { name: "echo" }).click();
  await page.waitForURL(`**/dashboard/inference/jobs/${deployed.id}`);
  await gateway.answer(agent, deployed.id);
  held = await agent.desiredOf(deployed.id, 1);
  await page.getByText("It answers on 1 replica.").waitFor();
  await page.getByRole("list", { name: "Replicas" }).getByText("node-a").waitFor();
  t.equal(await jobs.getByRole("button", { name: /new job/ }).count(), 0, "it is no job");
  t.match(
    await page.locator("#endpoint").textContent(),
    new RegExp(`^https://localhost:\\d+/inference/${deployed.id}$`),
  );

  // By keyboard alone.
  await page.getByLabel("Key").focus();
  await page.keyboard.type("rpk_wrong");
  await page.getByRole("textbox", { name: /^Text/ }).fill("hello <b>you</b>");
  await page.getByRole("textbox", { name: /^Text/ }).press("Tab");
  await page.keyboard.press("Enter");
  await page.getByText("the key is not one of this deployment").waitFor();
  await page.getByLabel("Key").fill(deployed.key);
  await page.getByLabel("Key").press("Enter");
  const answer = page.locator("#answer");
  await answer.getByText('"said": "> hello <b>you</b>"').waitFor();
  t.equal(await page.locator("#answer b").count(), 0, "what a predictor answers is text");
  await page.getByText(/^Answered in \d+ ms by /).waitFor();

  await page.locator("#serving").getByText("takes calls").waitFor();
  await page
    .locator("#requests")
    .getByText(/^0\.\d\d$/)
    .waitFor();
  t.equal(await page.locator("#errors").textContent(), "none");

  const file = join(t.testdir(), "five.bin");
  writeFileSync(file, Buffer.from([0, 255, 10, 13, 128]));
  await page.getByLabel("A file").check();
  await page.locator("#playground input[type=file]").setInputFiles(file);
  await page.getByRole("button", { name: "Send" }).click();
  await answer.getByText('"bytes": 5').waitFor();

  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Back" }).click();
  await page.getByRole("button", { name: "New key" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Make a new key" }).click();
  const key = (await page.locator("#predict-key").textContent()) ?? "";
  t.match(key, /^rpk_[\w-]{43}$/);
  t.not(key, deployed.key);
  await page.getByRole("button", { name: "I have it" }).click();
  await page.getByText(key).waitFor({ state: "detached" });
  const refusal = page.getByText("the key is not one of this deployment");
  // The gateway hears of it a moment later.
  for (let tries = 0; tries < 5_000 && (await refusal.count()) === 0; tries++) {
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForTimeout(200);
  }
  await refusal.waitFor();
  await page.getByLabel("Key").fill(key);
  await page.getByRole("button", { name: "Send" }).click();
  await answer.getByText('"bytes": 5').waitFor();

  await page.getByRole("tab", { name: "Logs" }).click();
  await page.getByLabel("Log of").waitFor();
  const text = "loaded <img src=x>\n";
  await agent.tail({
    ...{ job: deployed.id, member: held[0]!.member, offset: 0 },
    ...{ bytes: Buffer.byteLength(text), text },
  });
  await page.getByText("loaded <img src=x>").waitFor();
  t.equal(await page.locator("main img").count(), 0);
  await page.getByRole("tab", { name: "GPU" }).click();
  await page.getByText("No device has told yet").waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByRole("table").waitFor();
  // A refused call is an answer that the browser notes by itself.
  t.same(
    complaints.filter((text) => !text.includes("status of 401")),
    [],
  );
});

t.test("the pages break no rule of accessibility, in both themes and narrow", async (t) => {
  for (const look of [{ dark: false }, { dark: true }, { dark: false, width: 360 }]) {
    const { page } = await pageOf({ ...look, bypassPolicy: true });
    for (const path of [
      "",
      ...["", "/logs", "/gpu", "/events"].map((tab) => `/jobs/${deployed.id}${tab}`),
    ]) {
      await page.goto(`${house.running.url}/dashboard/inference${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.waitForTimeout(500);
      // A theme moves nothing.
      const rules = look.dark ? ["color-contrast"] : undefined;
      t.same(await accessibilityFaults(page, rules), [], `${path} ${JSON.stringify(look)}`);
    }
  }
});

t.test("a stop is asked for, shown, and nobody else sees the deployment", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/inference/jobs/${deployed.id}`);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Stop the deployment" }).click();
  await page.getByText("It was asked to stop, and takes no call.").waitFor();
  t.equal(await page.getByRole("button", { name: "New key" }).count(), 1, "until it has ended");
  t.same(complaints, []);
  const bob = await house.addUser("bob");
  const context = await house.windowOf(bob.userId);
  const other = await context.newPage();
  await other.goto(`${house.running.url}/dashboard/inference/jobs/${deployed.id}`);
  await other.getByText("there is no such task").waitFor();
});
