/** The audit pages in a real browser: searched, one entry checked by the verifier's own code, and a changed entry found out. */
import { readFileSync } from "node:fs";
import { strFromU8, unzipSync } from "fflate";
import type { Page } from "playwright-core";
import t from "tap";
import { DashboardHouse } from "./helper/dashboard-house.ts";

t.setTimeout(600_000);

/** The questions that one entry answers, with what the page says. */
async function verdictsOf(page: Page): Promise<Record<string, string>> {
  const rows = page.getByRole("group", { name: "What the proof shows" }).locator("tbody tr");
  await rows.first().waitFor();
  const cells = await rows.evaluateAll((all: { children: ArrayLike<{ textContent: string }> }[]) =>
    all.map(({ children }) => [children[0]!.textContent, children[1]!.textContent] as const),
  );
  return Object.fromEntries(cells);
}

t.test(
  "an auditor searches, opens an entry and sees its proof checked; a flipped byte fails",
  { skip: process.getuid?.() === 0 ? false : "audit-out's file must be root's" },
  async (t) => {
    const house = await DashboardHouse.open();
    t.teardown(() => house[Symbol.asyncDispose]());
    await house.running.startSearch();
    const ada = await house.addUser("ada");
    const auditor = await house.addUser("auditor");
    await house.running.get("/api/keys", ada.platformKey);
    const context = await house.windowOf(auditor.userId, { roles: ["compliance-auditor"] });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(error.message));

    await page.goto(`${house.running.url}/dashboard`);
    await page.waitForURL(`${house.running.url}/dashboard/audit`);
    const questions = page.getByRole("form", { name: "A question to the log" });
    await questions.getByRole("combobox").selectOption("person");
    await questions.getByRole("textbox", { name: /^Person/ }).fill(ada.userId);
    await questions.getByRole("textbox", { name: /^From/ }).fill("24h");
    await questions.getByRole("button", { name: "Ask" }).click();
    await page.getByText("What somebody did as root at the host").waitFor();
    await page.getByRole("cell", { name: "iam.user.create completed" }).first().waitFor();
    await page.setViewportSize({ width: 360, height: 720 });
    const overflow = await page.evaluate(
      "document.documentElement.scrollWidth - document.documentElement.clientWidth",
    );
    t.equal(overflow, 0, "a narrow page is no wider than its window, whatever the questions are");
    if (process.env["RT_LOOK"] !== undefined)
      await page.screenshot({ path: process.env["RT_LOOK"], fullPage: true });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${house.running.url}/dashboard/audit`);
    await page.getByLabel("Kind of event").fill("key.list");
    const found = page.getByRole("link", { name: /^\d{4}\/\d+$/ }).first();
    // An entry is indexed a moment after it is signed.
    for (let tries = 0; tries < 5_000 && (await found.count()) === 0; tries++) {
      await page.getByRole("button", { name: "Search" }).click();
      await page.waitForTimeout(200);
    }
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export what was found" }).click(),
    ]);
    const archive = unzipSync(readFileSync(await download.path()));
    const table = strFromU8(archive["entries.csv"]!).trimEnd().split("\r\n");
    const named = await found.textContent();
    t.ok(archive[`proofs/entry-${named?.replace("/", "-")}.tlog-proof`], "with its proof");
    t.equal(table.length, Object.keys(archive).length - 1, "a line for each proof, and a head");
    t.match(strFromU8(archive["READ-ME.txt"]!), /type = key\.list/);

    await found.click();
    t.match(await verdictsOf(page), {
      ...{ INTEGRITY: "PASS", SIGNATURE: "SELF-ASSERTED", WITNESSED: "SELF-ASSERTED" },
    });
    await page.getByText("that is not independent").waitFor();

    await page.route("**/api/audit/events/*", async (route) => {
      const answer = await route.fetch();
      const body = (await answer.json()) as { proof: string };
      const proof = body.proof.replace(
        /^(extra .{40})(.)/m,
        (_, head: string, one: string) => `${head}${one === "A" ? "B" : "A"}`,
      );
      await route.fulfill({ response: answer, json: { ...body, proof } });
    });
    await page.reload();
    t.match(await verdictsOf(page), { INTEGRITY: "FAIL" });
    t.same(complaints, []);
  },
);
