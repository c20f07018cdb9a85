/** The storage page in a real browser: what fills the bucket, the beginning of a file, versions, a folder as one archive, a key pair. */
import { readFileSync } from "node:fs";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { pageOverflow } from "@resontech/house/page-overflow";
import { strFromU8, unzipSync } from "fflate";
import t from "tap";
import { DashboardHouse } from "./helper/dashboard-house.ts";
import { listFaults } from "./helper/list-faults.ts";
import { shotsOf } from "./helper/shots.ts";

t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { running } = house;
const ada = await house.addUser("ada");

t.test(
  "a researcher sees what fills the bucket, looks inside, restores and takes along",
  async (t) => {
    const { body } = await running.get("/api/users/storage/bucket", ada.platformKey);
    const bucket = String(body["bucketAlias"]);
    const put = (key: string, text: string) =>
      running.s3.store.put(bucket, key, text, "text/plain");
    await put("study/results/metrics.csv", 'site,loss\nnorth,"0,5"\n');
    await put("study/results/model.bin", "x".repeat(20_000));
    await put("study/readme.txt", "the first text");
    await put("study/readme.txt", "the second text");
    const context = await house.windowOf(ada.userId, {
      width: 1440,
      height: 900,
      bypassPolicy: true,
    });
    // The bare engine stands here, and lets no page read; an appliance's S3 front does, as its own tests show.
    await context.route(`${running.s3.endpoint}/**`, async (route) => {
      const response = await route.fetch();
      const headers = { ...response.headers(), "access-control-allow-origin": running.url };
      await route.fulfill({ response, headers });
    });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const shot = shotsOf(page);
    await page.goto(`${running.url}/dashboard/storage`);
    const objects = page.getByRole("group", { name: "Objects" });
    const study = objects.getByRole("row").filter({ hasText: "study/" });
    await study.getByText("31.5 KiB").waitFor();
    const fill = await page.getByRole("list", { name: "What fills it" }).innerText();
    t.match(fill, /27\.5 KiB objects as they are now[\s\S]*4\.0 KiB older versions/);
    await shot("storage-bucket");

    await page.getByRole("link", { name: "study/" }).click();
    await page.getByRole("navigation", { name: "Folder" }).getByText("study").waitFor();
    const names = await objects.getByRole("row").locator("td:first-child").allInnerTexts();
    t.same(names, ["results/", "readme.txt"], "folders first");
    await page.getByRole("button", { name: "readme.txt", exact: true }).click();
    await page.getByRole("button", { name: "Look inside" }).click();
    await page.getByText("the second text").waitFor();
    const versions = page.getByRole("group", { name: "Versions of study/readme.txt" });
    await versions.getByRole("button", { name: /^Restore version/ }).waitFor();
    await shot("storage-versions");
    t.same(await accessibilityFaults(page), []);
    await page.setViewportSize({ width: 390, height: 844 });
    await objects.getByRole("columnheader", { name: "More" }).first().waitFor();
    t.same(await listFaults(page), []);
    t.equal(await pageOverflow(page), 0);
    t.same(await accessibilityFaults(page), []);
    await page.setViewportSize({ width: 1440, height: 900 });
    await objects.getByRole("columnheader", { name: "Changed" }).waitFor();
    await versions.getByRole("button", { name: /^Restore version/ }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Restore" }).click();
    await versions.getByRole("row").nth(3).waitFor();
    const newest = await running.s3.store.stat(bucket, "study/readme.txt");
    t.equal(newest?.sizeBytes, "the first text".length);

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as zip: study/results/" }).click(),
    ]);
    t.equal(download.suggestedFilename(), "results.zip");
    const files = unzipSync(readFileSync(await download.path()));
    t.same(Object.keys(files).toSorted(), ["metrics.csv", "model.bin"]);
    t.match(strFromU8(files["metrics.csv"]!), /north/);

    await page.getByRole("link", { name: "results/" }).click();
    await page.getByRole("button", { name: "metrics.csv", exact: true }).click();
    await page.getByRole("button", { name: "Look inside" }).click();
    await page.getByRole("cell", { name: "0,5" }).waitFor();
    await shot("storage-preview");

    await page.getByRole("button", { name: "Make a new pair" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Make a new pair" }).click();
    const secret = page.locator("#s3-secret");
    await secret.waitFor();
    t.match(await secret.innerText(), /^\S{32,}$/);
    await page.getByRole("button", { name: "I have it" }).click();
    await secret.waitFor({ state: "detached" });
  },
);
