/** A researcher's day on the installed appliance, in a browser: submit, watch live, look at files and take them, find why a job failed and mend it. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync } from "fflate";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import { LocalAppliance } from "@resontech/house/local-appliance";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { readyFolder } from "./helper/ready-folder.ts";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const pictures = process.env["RT_IMAGES"];

t.setTimeout(600_000);
const work = join(t.testdir(), "work");
mkdirSync(work);

/** The appliance does what the first POST to each path asks, and the page never hears of it. @returns paths whose turn is still to come */
async function loseFirstAnswers(page: Page, paths: readonly string[]): Promise<Set<string>> {
  const waiting = new Set(paths);
  for (const path of paths)
    await page.route(`**${path}`, async (route) => {
      if (!waiting.delete(path)) return await route.continue();
      await route.fetch();
      await route.abort("connectionreset");
    });
  return waiting;
}

async function submit(page: Page, folder: string, name: string): Promise<void> {
  await page.getByRole("link", { name: "Submit", exact: true }).click();
  await page.getByLabel("Folder").setInputFiles(folder);
  await page.getByText(/files, .* 2 shards/).waitFor();
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Upload and submit" }).click();
  const refused = page.getByRole("heading", { name: "The job was not submitted" });
  await Promise.race([page.waitForURL(/\/dashboard\/jobs\/job-/), refused.waitFor()]);
  if (await refused.isVisible())
    throw new Error(`the page refused ${name}: ${await page.getByRole("alert").innerText()}`);
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** What the page says of each file of a job, by its path in the job's folder. */
async function digestsOf(page: Page): Promise<Map<string, string>> {
  const rows = page.getByRole("table", { name: "Files of the job" }).locator("tbody tr");
  const digests = new Map<string, string>();
  for (const row of await rows.all()) {
    const path = await row.locator("td").first().innerText();
    digests.set(path.trim(), (await row.getByTitle(/^[0-9a-f]{64}$/).getAttribute("title")) ?? "");
  }
  return digests;
}

/** Looks at a text and at a model, and takes a folder as one zip. The page reads all of it from the object store itself, which lets it. */
async function lookAtFiles(t: Test, page: Page): Promise<void> {
  const preview = async (path: string) => {
    await page.getByRole("button", { name: `Preview ${path}` }).click();
    return page.getByRole("region", { name: path });
  };
  const metrics = await preview("files_out/metrics.jsonl");
  await metrics
    .getByText(/round-ended/)
    .first()
    .waitFor();
  const digests = await digestsOf(page);
  const model = [...digests.keys()].find((path) => /^model_out\/.*\.pt$/.test(path)) ?? "";
  const weights = await preview(model);
  await weights
    .getByText(/classify\.1\.weight/)
    .first()
    .waitFor();
  await page.getByLabel("Take").selectOption("files_out/");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download as one zip" }).click(),
  ]);
  const zip = unzipSync(new Uint8Array(readFileSync(await download.path())));
  const inZip = Object.fromEntries(
    Object.entries(zip).map(([path, bytes]) => [path, sha256(bytes)]),
  );
  const onPage = [...digests].filter(([path]) => path.startsWith("files_out/"));
  t.same(inZip, Object.fromEntries(onPage), "each file of the zip is the job's");
  t.ok(onPage.length >= 4, "log, metrics, and a log of each site");
}

t.test(
  "a researcher submits, watches, finds out why a job failed, and downloads the model",
  async (t) => {
    const folder = join(work, "digits of a page");
    await readyFolder(appliance, folder);
    await appliance.command(["add-user", "mira"]);
    const browser = await launchApplianceBrowser(appliance);
    t.teardown(() => browser.close());
    const mira = await SignedInPerson.signIn(browser, appliance, "mira");
    const { page, complaints } = mira;
    const picture = async (name: string): Promise<void> => {
      if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) });
    };

    const lost = await loseFirstAnswers(page, ["/api/users/storage/upload/complete", "/api/tasks"]);
    await submit(page, folder, "digits of a page");
    t.equal(lost.size, 0, "the page asked again where an answer was lost");
    await page.getByText(/It runs on 2 sites, in round \d of 3/).waitFor();
    await picture("job-runs");
    await page.getByText("It finished, and its results are stored.").waitFor();
    await page.getByRole("tab", { name: "Curves" }).click();
    await picture("job-curves");
    await page.getByRole("tab", { name: "Logs" }).click();
    await page.getByRole("log").getByText(/\S/).first().waitFor();
    await picture("job-logs");
    await page.getByRole("tab", { name: "Files" }).click();
    const model = page.getByRole("button", { name: /^Download .*model_out\// }).first();
    await model.waitFor();
    const name = (await model.getAttribute("aria-label")) ?? "";
    const row = page
      .getByRole("row")
      .filter({ has: page.getByRole("button", { name, exact: true }) });
    const digest = await row.getByTitle(/^[0-9a-f]{64}$/).getAttribute("title");
    const [download] = await Promise.all([page.waitForEvent("download"), model.click()]);
    const bytes = readFileSync(await download.path());
    t.equal(sha256(bytes), digest, "the model is the job's");
    await lookAtFiles(t, page);
    await picture("job-files");

    const script = join(folder, "scripts", "model_def.py");
    writeFileSync(
      script,
      `raise RuntimeError("the weights are of another model")\n${readFileSync(script, "utf8")}`,
    );
    await submit(page, folder, "broken");
    await page.getByText("It ended without success. What to do stands below.").waitFor();
    await page
      .getByRole("alert")
      .getByText(/the weights are of another model/)
      .first()
      .waitFor();
    await picture("job-failed");

    const failed = page.url();
    await mira.press("Submit again");
    await page.getByRole("button", { name: "Edit scripts/model_def.py" }).click();
    const editor = page.getByLabel("Text of model_def.py");
    const broken = await editor.inputValue();
    t.match(broken, /^raise RuntimeError/, "the file as the job read it");
    await editor.fill(broken.slice(broken.indexOf("\n") + 1));
    await page.getByRole("button", { name: "Submit", exact: true }).click();
    await page.waitForURL((now) => now.pathname.includes("/jobs/job-") && now.href !== failed);
    await mira.press("Cancel the job");
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText(/asked (?:it )?to stop|It was cancelled/).waitFor();

    await page.getByRole("link", { name: "Jobs", exact: true }).first().click();
    await page.getByRole("button", { name: /^Failed 1/ }).waitFor();
    const links = page.getByRole("link", { name: "digits of a page" });
    await links.first().waitFor();
    t.equal(await links.count(), 1, "one job");
    await picture("jobs");
    const others = complaints.filter((text) => !text.endsWith("net::ERR_CONNECTION_RESET"));
    t.same(others, [], "the browser complains of the lost answers alone");
  },
);
