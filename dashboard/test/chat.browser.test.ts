/** A model is deployed from the page and talked to, through the real gateway, to the real llama.cpp with a small chat model; and devices as one picture. */
import type { Page } from "playwright-core";
import t from "tap";
import { TestGateway } from "@resontech/inference-gateway/testing/test-gateway";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { llamaPython } from "@resontech/house/llama-python";
import { CodeDesk } from "./helper/code-desk.ts";
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
const use = {
  ...{ worker: "node-a-0", memoryInUseBytes: 1e9, utilizationPercent: 91, temperatureC: 71 },
  ageMs: 5,
};
// Each of its beats says so: one that told of no device would take away what the page shows.
agent.uses = { devices: [use] };

async function pageOf(look: {
  path: string;
  dark?: boolean;
  width?: number;
  isAdministrator?: boolean;
  bypassPolicy?: boolean;
}): Promise<{ page: Page; complaints: string[] }> {
  const context = await house.windowOf(ada.userId, {
    ...{ dark: look.dark === true, width: look.width ?? 1440, height: 900 },
    roles: look.isAdministrator === true ? ["platform-admin"] : [],
    bypassPolicy: look.bypassPolicy === true,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${house.running.url}/dashboard${look.path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return { page, complaints };
}

async function shoot(page: Page, name: string): Promise<void> {
  const shots = process.env["RT_TEST_SHOTS"];
  if (shots !== undefined) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}

let id = "";
const choicesOf = (answer: string) =>
  (JSON.parse(answer) as { choices: { message: { content: string } }[] }).choices;

t.test(
  "a model of the bucket is deployed from the page, and answers in a conversation",
  async (t) => {
    const { body: bucket } = await house.running.get("/api/users/storage/bucket", ada.platformKey);
    await house.running.s3.store.put(
      ...[
        String(bucket["bucketAlias"]),
        "models/chat.gguf",
        "GGUF\u0003\0\0\0 and the rest",
        "application/octet-stream",
      ],
    );
    const { page, complaints } = await pageOf({ path: "/inference" });
    // The S3 front lets the page's origin in; the engine alone, which this house has, knows no origins.
    await page.route(`${house.running.s3.endpoint}/**`, async (route) => {
      const response = route.request().method() === "OPTIONS" ? null : await route.fetch();
      await route.fulfill({
        ...(response === null ? { status: 204 } : { response }),
        headers: {
          ...response?.headers(),
          ...{
            "access-control-allow-origin": house.running.url,
            "access-control-allow-methods": "PUT",
          },
          ...{ "access-control-allow-headers": "*", "access-control-expose-headers": "etag" },
        },
      });
    });
    await page.getByRole("link", { name: "Deploy a model" }).first().click();
    await page.getByRole("heading", { name: "Deploy a model" }).waitFor();
    await page
      .getByRole("combobox", { name: /^Model/ })
      .selectOption({ label: "A GGUF file of the bucket" });
    await page.getByLabel("Its place in the bucket").fill("/models/chat.gguf");
    await page.getByRole("textbox", { name: /^Name/ }).fill("small chat");
    await page.getByText('path: "/models/chat.gguf"').waitFor();
    await shoot(page, "deploy");
    const [made] = await Promise.all([
      page.waitForResponse((reply) => reply.url().endsWith("/api/inference/jobs")),
      page.getByRole("button", { name: "Deploy" }).click(),
    ]);
    t.equal(made.status(), 201, await made.text());
    await page.getByRole("heading", { name: "small chat is on its way" }).waitFor();
    t.match(await page.locator("#predict-key").textContent(), /^rpk_[\w-]{43}$/);
    await page.getByRole("button", { name: "I have it" }).click();
    await page.waitForURL(/inference\/jobs\/job-/);
    id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await gateway.answerChat(agent, id);
    await page.getByText("It answers on 1 replica.").waitFor();

    // The key is there: it was made in this tab.
    await page.getByLabel("Longest answer (tokens)").fill("12");
    await page.getByLabel("Temperature").fill("0");
    await page.getByRole("textbox", { name: "Message" }).fill("Say hello.");
    await page.getByRole("textbox", { name: "Message" }).press("Enter");
    await page.getByText(/^First word after \d+ ms.* tokens in, \d+ out/).waitFor();
    const turns = page.getByRole("list", { name: "Conversation" }).getByRole("listitem");
    t.match(await turns.allInnerTexts(), [/^You\s+Say hello\.$/, /^Model\s+\S/]);
    const code = page.locator("#chat-code");
    t.match(await code.textContent(), /"content": "Say hello\."[^]*"max_tokens": 12/);
    // What the page shows is run as it stands. How many words fit into 12 tokens may differ.
    const key = await page.getByLabel("Key").inputValue();
    const desk = new CodeDesk(t.testdir(), house.running.caPem, { RESON_INFERENCE_API_KEY: key });
    const shown = async (language: string, mark: string) => {
      await page.getByRole("button", { name: language, exact: true }).click();
      await code.getByText(mark).waitFor();
      return (await code.textContent()) ?? "";
    };
    const { python } = await llamaPython();
    const answers = [
      await desk.python(python, await shown("Python", "from openai import OpenAI")),
      await desk.script(await shown("JavaScript", "for await")),
      String(choicesOf(await desk.shell(await shown("curl", "curl --fail")))[0]?.message.content),
    ];
    for (const answer of answers) t.match(answer, /\w/);

    await page
      .getByLabel("JSON schema")
      .fill(
        '{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}',
      );
    await page.getByLabel("Longest answer (tokens)").fill("40");
    await page.getByRole("textbox", { name: "Message" }).fill("A number, please.");
    await page.getByRole("button", { name: "Send" }).click();
    await turns
      .nth(3)
      .getByText(/^\{\s*"n"\s*:\s*-?\d/)
      .waitFor();
    await page.getByText(/^First word after/).waitFor();
    await shoot(page, "chat");
    await page.getByLabel("JSON schema").fill("{");
    await page.getByText("The settings hold no JSON yet.").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("And now?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(/^the JSON schema is no JSON/).waitFor();
    t.equal(await turns.count(), 4, "nothing was sent");
    t.same(complaints, []);
  },
);

t.test("every device of the fleet is one picture, by what is asked of it", async (t) => {
  const { page, complaints } = await pageOf({ path: "/nodes", isAdministrator: true });
  const panel = page.getByRole("region", { name: "Devices" });
  await panel.getByRole("link", { name: "node-a: 1 of 2 in use, at most 71 °C" }).waitFor();
  const legend = panel.getByRole("list", { name: "What the shades mean" });
  await legend.getByText("80% and more").waitFor();
  t.match(await legend.innerText(), /80% and more\s+1\s+not told\s+1/);
  await panel.getByRole("button", { name: "state" }).click();
  t.match(await legend.innerText(), /free\s+1\s+in use\s+1\s+takes no work\s+0/);
  t.match(page.url(), /\?devices=state$/);
  await shoot(page, "nodes");
  await panel.getByRole("link").first().click();
  await page.getByRole("heading", { level: 1, name: "node-a" }).waitFor();
  await page.getByRole("cell", { name: "71 °C" }).waitFor();
  await shoot(page, "node");
  agent.uses = { devices: [{ ...use, temperatureC: 64 }] };
  await page.getByRole("cell", { name: "64 °C" }).waitFor();
  t.same(complaints, []);
});

t.test("these pages break no rule of accessibility, in both themes and narrow", async (t) => {
  for (const look of [{ dark: false }, { dark: true }, { dark: false, width: 390 }])
    for (const path of ["/inference/deploy", `/inference/jobs/${id}`, "/nodes"]) {
      const isAdministrator = path === "/nodes";
      const { page } = await pageOf({ ...look, path, isAdministrator, bypassPolicy: true });
      await page.getByRole("region").first().waitFor();
      t.same(await accessibilityFaults(page), [], `${path} ${JSON.stringify(look)}`);
      const name = `${path.slice(1).replaceAll("/", "-").replace(id, "it")}-${look.width ?? (look.dark ? "dark" : "light")}`;
      await shoot(page, name);
      await page.context().close();
    }
});
