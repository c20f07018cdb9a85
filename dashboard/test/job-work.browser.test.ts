/** What a person does with jobs once they have run: compares them, runs one again with a change, reads logs and looks at files. */
import { readFileSync } from "node:fs";
import { unzipSync } from "fflate";
import type { Page } from "playwright-core";
import t from "tap";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { CLEAN } from "@resontech/coordinator/testing/scripted-agent";
import { goodFiles } from "@resontech/coordinator/testing/workspace";
import { pageOverflow } from "@resontech/house/page-overflow";
import { DashboardHouse } from "./helper/dashboard-house.ts";

t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const ada = await house.addUser("ada");
const agent = await house.addNode("node-a", 2);
await agent.beat([]);

const shots = process.env["RT_TEST_SHOTS"];
/** In both themes and widths where somebody wants to look. */
async function shot(page: Page, name: string): Promise<void> {
  if (shots === undefined) return;
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1440, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({
        path: `${shots}/${name}-${colorScheme}-${width}.png`,
        fullPage: true,
      });
    }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function pageOf(look: { bypassPolicy?: boolean } = {}) {
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

const HEADER = JSON.stringify({
  "conv.weight": { dtype: "F32", shape: [8, 1, 3, 3], data_offsets: [0, 288] },
});
/** By path below the job's folder. */
const OUTPUTS = {
  "model_out/checkpoint.pt": "no checkpoint at all",
  "files_out/scores.csv": 'name,score\n"a, b",0.5\nc,0.75\n',
  "files_out/settings.json": '{"lr":0.1,"layers":[8,16]}',
  "files_out/model.safetensors": `${String.fromCharCode(HEADER.length)}${"\0".repeat(7)}${HEADER}`,
} as const;

type Members = Awaited<ReturnType<typeof agent.desiredOf>>;

/** A federation that runs a round for each loss, and leaves files. */
async function trainedJob(slug: string, losses: readonly number[]) {
  const id = await house.submit(ada, slug);
  const members = await agent.desiredOf(id, 3);
  const server = members[0]!;
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: `nv-${slug}` });
  for (const [at, loss] of losses.entries()) {
    const round = at + 1;
    await agent.report(server, { kind: "round-started", round, numRounds: 3 });
    for (const site of ["site-1", "site-2"]) {
      const value = JSON.stringify({ round, loss });
      await agent.report(server, { kind: "metric", site, value });
    }
    await agent.report(server, { kind: "round-ended", round, sites: ["site-1", "site-2"] });
  }
  for (const [path, content] of Object.entries(OUTPUTS)) await agent.upload(server, path, content);
  return { id, members };
}

async function end(members: Members, failing: Members[number] | null, keys: string[]) {
  if (failing !== null)
    await agent.report(failing, {
      ...{ kind: "failed", reason: "out_of_memory", exitCode: 137 },
      message: "a process was killed at the limit of 2147483648 bytes",
    });
  for (const member of members)
    if (member !== failing) await agent.report(member, { kind: "finished", exitCode: 0 });
  for (const [at, member] of members.entries())
    await agent.report(member, { kind: "outputs-uploaded", keys: at === 0 ? keys : [] });
  for (const member of members) await agent.report(member, CLEAN);
}

async function finishedJob(slug: string, losses: readonly number[]): Promise<string> {
  const { id, members } = await trainedJob(slug, losses);
  await end(members, null, Object.keys(OUTPUTS));
  return id;
}

/** Out of memory twice: the first time it is tried again. */
async function starvedJob(slug: string, losses: readonly number[]): Promise<string> {
  const { id, members } = await trainedJob(slug, losses);
  await end(members, members[1]!, Object.keys(OUTPUTS));
  const again = await agent.desiredOf(id, 3);
  await agent.bringUp(again);
  await end(again, again[1]!, []);
  return id;
}

const first = await finishedJob("digits", [0.9, 0.4]);
const second = await starvedJob("letters", [0.8, 0.6]);

t.test("ticked jobs stand beside one another, and a link keeps what is chosen", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/jobs`);
  await page.getByLabel("Tick digits").check();
  await page.getByText("tick another to compare them").waitFor();
  await page.getByLabel("Tick letters").press("Space");
  await page.getByRole("button", { name: "Compare" }).press("Enter");
  const outcome = page.getByRole("table", { name: "What came of it" });
  const losses = outcome.getByRole("row", { name: /Last loss/ });
  t.match(await losses.innerText(), /0\.4\s*best[\s\S]*0\.6/);
  await page.locator("figcaption", { hasText: "loss by round" }).waitFor();
  const legend = page.getByRole("figure").getByRole("listitem");
  t.equal(await legend.count(), 2);
  await page.getByLabel("Each site").check();
  await legend.nth(3).waitFor();
  await page.locator("summary", { hasText: /the same$/ }).click();
  const same = page.getByRole("table", { name: "What is the same" });
  await same.getByRole("row", { name: /Code/ }).waitFor();
  await page.reload();
  await legend.nth(3).waitFor();
  t.same(new URL(page.url()).searchParams.get("jobs"), `${first},${second}`);
  await shot(page, "compare");
  await page.getByRole("button", { name: "Take out letters" }).click();
  await page.getByText("Add a job to see what differs").waitFor();
  await page.getByLabel("Compare with").selectOption({ value: second });
  await losses.getByText("best").waitFor();
  t.same(complaints, []);
});

t.test("a job that ran out of memory says so, with its member's exit code", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/jobs/${second}`);
  const members = page.getByRole("list", { name: "Members" });
  await members.getByText(/code/).first().waitFor();
  t.match(await members.innerText(), /site-1[^]*code 137: out of memory[^]*code 0/);
  await page.getByRole("link", { name: "See how its memory grew" }).waitFor();
  await shot(page, "job-out-of-memory");
  await page.goto(`${house.running.url}/dashboard/jobs/${first}`);
  await page.getByText("2 of 2", { exact: true }).waitFor();
  t.same(complaints, []);
});

t.test("files come and go by keyboard, and what no job reads is told at once", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/submit?again=${first}`);
  await page.getByLabel("Name").fill("digits wider");
  await page.getByRole("button", { name: "Write a new file" }).press("Enter");
  await page.getByLabel("Text of new.py").fill("WIDTH = 8\n");
  await page.getByLabel("Path of new.py").fill("notes/width.py");
  await page.getByText("file_place_unknown").waitFor();
  const submit = page.getByRole("button", { name: "Submit", exact: true });
  t.equal(await submit.isDisabled(), true, "nothing is sent that would be refused");
  await page.getByLabel("Path of width.py").fill("scripts/width.py");
  await page.getByText("file_place_unknown").waitFor({ state: "detached" });
  await page.getByLabel("Add files: choose").setInputFiles({
    ...{ name: "more.zip", mimeType: "application/zip" },
    buffer: Buffer.from(goodFiles()["shards/shard_0.zip"]!),
  });
  t.equal(await page.getByLabel("Path of more.zip").inputValue(), "shards/more.zip");
  await page.getByRole("button", { name: "Remove shards/shard_0.zip" }).press("Enter");
  await page.getByRole("button", { name: "Remove configs/meta.json" }).press("Enter");
  await page.getByRole("button", { name: "Leave configs/meta.json as it was" }).press("Enter");
  const differs = page.getByRole("region", { name: "What differs" });
  await differs.getByText("shards/shard_0.zip is removed.").waitFor();
  await differs.getByText("+ WIDTH = 8").waitFor();
  t.notMatch(await differs.innerText(), /meta\.json/);
  await shot(page, "submit-files");
  await submit.press("Enter");
  await page.getByRole("heading", { level: 1, name: "digits wider" }).waitFor();
  const made = new URL(page.url()).pathname.split("/").at(-1)!;
  const { body } = await house.running.get(`/api/jobs/${made}/parameters`, ada.platformKey);
  const keys = (body["inputs"] as { key: string }[]).map(({ key }) => key);
  t.ok(keys.includes("jobs/digits-wider/scripts/width.py"));
  t.same(
    keys.filter((key) => key.includes("/shards/")),
    ["jobs/digits/shards/shard_1.ZIP", "jobs/digits-wider/shards/more.zip"],
  );
  t.ok(keys.includes("jobs/digits/configs/meta.json"));
  t.same(complaints, []);
});

t.test("one file is changed and the job runs again, all else as it was", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/jobs/${first}`);
  await page.getByRole("button", { name: "Submit again" }).click();
  t.equal(await page.getByLabel("Name").inputValue(), "digits 2");
  await page.getByLabel("Time limit (minutes)").fill("5");
  await page.getByRole("button", { name: "Edit scripts/model_def.py" }).click();
  const editor = page.getByLabel("Text of model_def.py");
  t.equal(await editor.inputValue(), "class Net: pass\n");
  await editor.fill("class Net: pass\n# wider\n");
  const differs = page.getByRole("region", { name: "What differs" });
  await differs.getByText("+ # wider").waitFor();
  t.match(await differs.innerText(), /Time limit\s*none → 5 min/);
  t.match(
    await page.getByRole("region", { name: "The same in code" }).innerText(),
    /--name 'digits 2' --minutes 5 --file scripts\/model_def\.py=/,
  );
  await shot(page, "submit-again");
  await page.getByRole("button", { name: "Submit", exact: true }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "digits 2" }).waitFor();
  const made = new URL(page.url()).pathname.split("/").at(-1)!;
  const { body } = await house.running.get(`/api/jobs/${made}/parameters`, ada.platformKey);
  t.match(body, { timeLimitMinutes: 5, name: "digits 2" });
  const keys = (body["inputs"] as { key: string; path: string }[]).map(
    ({ key, path }) => `${path} ${key}`,
  );
  t.ok(keys.includes("scripts/model_def.py jobs/digits-2/scripts/model_def.py"));
  t.ok(keys.includes("configs/meta.json jobs/digits/configs/meta.json"));
  t.same(complaints, []);
});

t.test("the first job of a person is a template, seen in code beside it", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/submit`);
  await shot(page, "submit-folder");
  await page.getByRole("tab", { name: "One script" }).click();
  await page.getByLabel("Arguments").fill("20\n--fast");
  const code = page.getByRole("region", { name: "The same in code" });
  await code.getByText('"arguments":["20","--fast"]').waitFor();
  await page.getByRole("tab", { name: "Python" }).click();
  await code.getByText('"arguments": ["20", "--fast"]').waitFor();
  await page.getByLabel("Class").selectOption("scavenger");
  await code.getByText('"class": "scavenger"').waitFor();
  await page.getByLabel("Makes way for others").selectOption("yes");
  await shot(page, "submit-script");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "first run" }).waitFor();
  await page.getByRole("definition").filter({ hasText: "scavenger" }).waitFor();
  const made = new URL(page.url()).pathname.split("/").at(-1)!;
  const { body } = await house.running.get(`/api/jobs/${made}/parameters`, ada.platformKey);
  t.match(body, { class: "scavenger", preemptible: true });
  await page.goto(`${house.running.url}/dashboard/submit?again=${made}`);
  t.equal(await page.getByLabel("Class").inputValue(), "scavenger");
  await page.getByLabel("Class").selectOption("");
  const differs = page.getByRole("region", { name: "What differs" });
  await differs.getByText("as its kind").waitFor();
  t.same(complaints, []);
});

t.test("an image classifier of two sites is a template, too, and may be changed", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/submit`);
  await page.getByRole("button", { name: "Begin with an image classifier" }).press("Enter");
  await page.getByText(/9 files, .*, 2 shards/).waitFor();
  const text = page.getByLabel("Text of scripts/model_def.py");
  await text.fill((await text.inputValue()).replace("EPOCHS = 2", "EPOCHS = 3"));
  t.equal(await page.getByLabel("Name").inputValue(), "image classifier");
  await shot(page, "submit-image-classifier");
  await page.getByRole("button", { name: "Upload and submit" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "image classifier" }).waitFor();
  const made = new URL(page.url()).pathname.split("/").at(-1)!;
  const { body } = await house.running.get(`/api/jobs/${made}/parameters`, ada.platformKey);
  t.match(body, { kind: "federation", rounds: 6, minSites: 2 });
  const task = await house.running.get(`/api/tasks/${made}`, ada.platformKey);
  t.match(task.body, { warnings: [], detail: { resumable: true } });
  const { body: bucket } = await house.running.get("/api/users/storage/bucket", ada.platformKey);
  const key = "jobs/image-classifier/scripts/model_def.py";
  const stored = await house.running.s3.store.stat(String(bucket["bucketAlias"]), key);
  t.equal(stored?.sizeBytes, (await changedModel()).length, "what was changed is what is sent");
  t.same(complaints, []);

  async function changedModel(): Promise<string> {
    const { IMAGE_CLASSIFIER } = await import("../src/pages/submit/image-classifier.ts");
    return IMAGE_CLASSIFIER.files["scripts/model_def.py"].replace("EPOCHS = 2", "EPOCHS = 3");
  }
});

t.test("a log shows the job's code first, and a link leads to one line", async (t) => {
  const members = await house.membersOf(ada, first);
  const record = (second: number, logger: string, level: string, text: string) =>
    `2026-11-30 10:00:${String(second % 60).padStart(2, "0")},123 - ${logger} - ${level} - ${text}\n`;
  const ofSite = (site: string) =>
    [0, 1, 2, 3].map((at) => record(at, "ClientRunner", "INFO", `of NVFlare ${at}`)).join("") +
    record(4, "GenericClientExecutor", "INFO", `epoch of ${site}`) +
    "10 %\r 55 %\r100 %\n\u001b[31mred words\u001b[0m\n" +
    record(5, "ClientRunner", "WARNING", "slow network") +
    Array.from({ length: 300 }, (_, at) => `step ${at} ${"x".repeat(300)}\n`).join("");
  for (const { member, site } of members) await house.storeLog(ada, first, member, ofSite(site));
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/jobs/${first}/logs`);
  const log = page.getByRole("log");
  await log.getByText(/step 299/).waitFor();
  t.equal(
    await page.getByLabel("Log of").locator("option").first().textContent(),
    "site-1, attempt 1",
  );
  await log.evaluate((frame: { scrollTop: number }) => {
    frame.scrollTop = 0;
  });
  await log.getByText("epoch of site-1").waitFor();
  t.equal(await log.getByText("of NVFlare 1").count(), 0, "what NVFlare says is folded");
  t.equal(await log.getByText("55 %").count(), 0, "a progress bar shows its last state");
  await log.getByRole("button", { name: "4 lines of NVFlare" }).click();
  await log.getByText("of NVFlare 1").waitFor();
  await page.getByLabel("Wrap lines").check();
  await shot(page, "logs");
  await page.getByLabel("Wrap lines").uncheck();
  const show = page.getByRole("group", { name: "What is shown" }).getByRole("combobox");
  await show.selectOption("warning");
  await log.getByText("slow network").waitFor();
  t.equal(await log.getByText("epoch of site-1").count(), 0);
  await show.selectOption("debug");
  await log.focus();
  await log.evaluate((frame: { scrollTop: number }) => {
    frame.scrollTop = 0;
  });
  await log.getByText("epoch of site-1").waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  const marked = log.locator("[aria-current]");
  await marked.getByText("epoch of site-1").waitFor();
  const link = page.url();
  t.match(new URL(link).hash, /^#site-1:\d+$/);
  await page.goto("about:blank");
  await page.goto(link);
  await marked.getByText("epoch of site-1").waitFor();
  t.same(complaints, []);
});

t.test("files are looked at before they are taken, one by one or as one zip", async (t) => {
  const { page, complaints } = await pageOf();
  await page.goto(`${house.running.url}/dashboard/jobs/${first}/files`);
  const preview = async (path: string) => {
    await page.getByRole("button", { name: `Preview ${path}` }).click();
    return page.getByRole("region", { name: path });
  };
  const table = await preview("files_out/scores.csv");
  await table.getByRole("cell", { name: "a, b" }).waitFor();
  await table.getByText("2 rows, 2 columns").waitFor();
  await shot(page, "files");
  const tree = await preview("files_out/settings.json");
  await tree.getByText("layers").click();
  await tree.getByText("16", { exact: true }).waitFor();
  const model = await preview("files_out/model.safetensors");
  await model.getByRole("cell", { name: "8 × 1 × 3 × 3" }).waitFor();
  const none = await preview("model_out/checkpoint.pt");
  await none.getByText("Its header is not one of such a file").waitFor();
  await page.getByLabel("Take").selectOption("files_out/");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download as one zip" }).click(),
  ]);
  t.equal(download.suggestedFilename(), "digits-files_out.zip");
  const zip = unzipSync(new Uint8Array(readFileSync(await download.path())));
  t.same(Object.keys(zip).sort(), [
    ...["files_out/model.safetensors", "files_out/scores.csv", "files_out/settings.json"],
  ]);
  t.equal(Buffer.from(zip["files_out/scores.csv"]!).toString(), OUTPUTS["files_out/scores.csv"]);
  t.same(complaints, []);
});

t.test("ranks are advised for a size that a person types, and taken into the form", async (t) => {
  const { page } = await pageOf({ bypassPolicy: true });
  await page.goto(`${house.running.url}/dashboard/submit?as=command`);
  const code = page.locator("main");
  await page.getByText("Advice: how many ranks").press("Enter");
  const size = page.getByRole("textbox", { name: /^Parameters of the model/ });
  await size.fill("125m");
  await page.getByRole("spinbutton", { name: /^Length of a sequence/ }).fill("128");
  await size.press("Enter");
  const device = page.getByRole("region", { name: "Advice for CPU slot" });
  const estimate = device.getByRole("table", { name: "Estimate for CPU slot" });
  await estimate.getByRole("row", { name: /^DDP yes/ }).waitFor();
  await page.getByRole("cell", { name: "fits on one GPU" }).waitFor();
  await page.getByText("for GPUs the table alone advises").waitFor();
  await device.getByText(/^For 2 slots/).waitFor();
  t.same(await accessibilityFaults(page), []);
  const [table, frame] = [await estimate.boundingBox(), await device.boundingBox()];
  t.ok(table!.x + table!.width <= frame!.x + frame!.width, "the estimate stays in its place");
  await device.getByRole("button", { name: "Take 2 ranks and ddp into the form" }).press("Enter");
  await page.getByText("Taken into the form: 2 ranks on cpu, ddp.").waitFor();
  await code.getByText(/"kind":"distributed","workers":2,"strategy":"ddp"/).waitFor();
  t.equal(await page.getByRole("combobox", { name: /^Strategy/ }).inputValue(), "ddp");
  t.equal(await page.getByRole("combobox", { name: /^Device/ }).inputValue(), "cpu");
  await shot(page, "submit-advice");
  t.equal(await pageOverflow(page), 0);

  // What fits nowhere offers nothing to take, and says what is missing.
  await size.fill("7b");
  await size.press("Enter");
  await device.getByText(/^Nothing that fits. Even divided among 2 each lacks/).waitFor();
  t.equal(await device.getByRole("button", { name: /^Take/ }).count(), 0);
  await shot(page, "submit-advice-nothing");

  // What can't be answered is told, and asked again.
  await page.route(/\/api\/advice/, (route) => route.abort());
  await size.fill("8b");
  await size.press("Enter");
  const again = page.getByRole("alert").getByRole("button", { name: "Try again" });
  await again.waitFor();
  await page.unroute(/\/api\/advice/);
  await again.press("Enter");
  await page.getByText(/^8 billion parameters/).waitFor();
  t.same(await accessibilityFaults(page), []);

  await page.getByRole("textbox", { name: "Name", exact: true }).fill("advised");
  await page.getByRole("button", { name: "Submit", exact: true }).press("Enter");
  await page.getByText("2 in 2 members, 1 worker each; ddp").waitFor();
  t.match(page.url(), /\/jobs\/job-/);
});

t.test(
  "none of these pages breaks a rule of accessibility, or is wider than a phone",
  async (t) => {
    const { page } = await pageOf({ bypassPolicy: true });
    for (const path of [
      `compare?jobs=${first},${second}`,
      `submit?again=${first}`,
      ...["submit?as=command", "submit?as=predictor", "submit"],
      ...[`jobs/${second}`, `jobs/${first}/logs`, `jobs/${first}/files`],
    ]) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${house.running.url}/dashboard/${path}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.locator("main table, main [role=log], main form").first().waitFor();
      t.same(await accessibilityFaults(page), [], path);
      await page.setViewportSize({ width: 390, height: 844 });
      t.equal(await pageOverflow(page), 0, `${path}: wider than a phone`);
    }
  },
);
