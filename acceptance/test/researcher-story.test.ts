/** A researcher's day on the installed appliance, in a browser: submit, watch live, find why a job failed, download the model. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import t from "tap";
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
    t.equal(createHash("sha256").update(bytes).digest("hex"), digest, "the model is the job's");

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
    await mira.press("Submit");
    await page.waitForURL((now) => now.pathname.includes("/jobs/job-") && now.href !== failed);
    await mira.press("Cancel the job");
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText(/It was asked to stop|It was cancelled/).waitFor();

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
