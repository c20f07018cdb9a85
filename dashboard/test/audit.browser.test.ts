/** The audit pages in a real browser: searched, one entry checked by the verifier's own code, and a changed entry found out. */
import { readFileSync } from "node:fs";
import { strFromU8, unzipSync } from "fflate";
import type { Page } from "playwright-core";
import t from "tap";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { pageOverflow } from "@resontech/house/page-overflow";
import { DashboardHouse } from "./helper/dashboard-house.ts";
import { listFaults } from "./helper/list-faults.ts";
import { shotsOf } from "./helper/shots.ts";

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

/** What was asked and the first rows of its answer, in a window of 1280 × 800. */
async function isInSight(page: Page): Promise<boolean> {
  return await page.evaluate<boolean>(`(() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect();
    return box("h2:focus").top >= 0 && box("tbody tr:nth-child(3)").bottom <= innerHeight;
  })()`);
}

async function giveReason(page: Page): Promise<void> {
  const why = page.getByRole("alertdialog");
  await why.getByRole("textbox", { name: /^Reason/ }).fill("access review of November");
  await why.getByRole("button", { name: "Show names" }).click();
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
    const shot = shotsOf(page);
    await shot("asked-nothing");
    await page.getByRole("button", { name: "What did a person do" }).click();
    const requests: string[] = [];
    page.on("request", (request) => requests.push(`${request.url()} ${request.postData()}`));
    // Nobody has given a reason to know names: none is asked for, and none leaves the page.
    await page.getByLabel(/^Person/).fill("ada");
    await page.getByRole("button", { name: "All", exact: true }).click();
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByRole("alert").getByText("no name was sent").waitFor();
    t.equal(new URL(page.url()).search, "");
    await page.getByLabel(/^Person/).fill(ada.userId);
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page.getByText("What somebody did as root at the host").waitFor();
    const entries = page.getByRole("group", { name: "Entries, newest first" });
    await entries.getByRole("cell", { name: "Added a user", exact: true }).first().waitFor();
    t.equal(await entries.getByText("ada", { exact: true }).count(), 0, "people are pseudonyms");
    // The form made room, and whoever asked stands at what was asked.
    await page.locator("h2:focus", { hasText: "What did a person do" }).waitFor();
    await page.getByLabel(/^Person/).waitFor({ state: "hidden" });
    t.ok(await isInSight(page), "the first entries are in sight, and what was asked above them");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.locator("button:focus", { hasText: "What did a person do" }).waitFor();
    await page.getByRole("button", { name: "Close the questions" }).press("Enter");
    await page.getByLabel(/^Person/).waitFor({ state: "hidden" });
    await shot("person");

    await page.getByRole("button", { name: "Show names" }).click();
    const why = page.getByRole("alertdialog");
    t.equal(
      await why.getByRole("button", { name: "Show names" }).isDisabled(),
      true,
      "not without a reason",
    );
    await giveReason(page);
    await entries.getByText("ada", { exact: true }).first().waitFor();
    // Asked by name, the name stays: in the field and above the answer, beside its pseudonym.
    await page.getByRole("button", { name: "Change the question" }).click();
    await page.getByText(`in the log: ${ada.userId}`).waitFor();
    t.equal(await page.getByLabel(/^Person/).inputValue(), "ada");
    await page.getByLabel(/^Person/).fill("auditor");
    await page.getByLabel(/^Person/).press("Enter");
    await page.getByRole("button", { name: "Change the question" }).waitFor();
    const asked = page.locator("p").filter({ hasText: auditor.userId });
    await asked.getByText("auditor", { exact: true }).waitFor();
    t.match(await asked.innerText(), /^\d+ entr(?:y|ies) · Person auditor u_[0-9a-f]+ · in all/);
    await page.getByRole("button", { name: "Change the question" }).click();
    t.equal(await page.getByLabel(/^Person/).inputValue(), "auditor");
    t.match(page.url(), `person=${auditor.userId}`);
    await page.getByRole("button", { name: "Hide names" }).click();
    await page
      .getByLabel(/^Person/)
      .and(page.locator(`[value="${auditor.userId}"]`))
      .waitFor();
    t.equal(await asked.getByText("auditor", { exact: true }).count(), 0);
    t.same(
      requests.filter((request) => /\b(?:ada|auditor)\b/.test(request.replaceAll(/u_\w+/g, ""))),
      [],
      "no request has a name in it",
    );
    await page.goBack();
    await page.getByRole("button", { name: "Show names" }).click();
    await giveReason(page);
    await entries.getByText("ada", { exact: true }).first().waitFor();

    const begun = entries.getByRole("row").filter({ hasText: "Set out to add a user" });
    await begun.getByRole("button", { name: "shows the outcome" }).click();
    const links = page.getByRole("list", { name: "What belongs to it" });
    await links.getByText("How it began: Set out to add a user").waitFor();
    await shot("opened");

    await page.getByRole("button", { name: "Verify this answer" }).click();
    const verdict = page.getByText(/All \d+ entries stand in the log/);
    await verdict.waitFor();
    const shown = await page.getByText(/^\d+ entries$/).textContent();
    t.match(await verdict.textContent(), `All ${shown} stand`, "as many as are shown");
    await page.getByText("Whose key signed the log's head is not checked").waitFor();
    await shot("verified");
    const bare = { roles: ["compliance-auditor"], bypassPolicy: true } as const;
    const watched = await (await house.windowOf(auditor.userId, bare)).newPage();
    await watched.goto(page.url());
    const opener = watched.getByRole("button", { expanded: false, name: /^\d{4}-/ }).first();
    await opener.click({ timeout: 120_000 });
    await watched.getByRole("list", { name: "What belongs to it" }).waitFor();
    t.same(await accessibilityFaults(watched), []);
    const [whole] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export what was found" }).click(),
    ]);
    const answer = unzipSync(readFileSync(await whole.path()));
    const lines = strFromU8(answer["entries.csv"]!).trimEnd().split("\r\n");
    t.equal(`${lines.length - 1} entries`, shown, "the file has what the page counts");
    t.notMatch(lines.join(), /\bada\b/, "no export holds a name");
    t.match(strFromU8(answer["READ-ME.txt"]!), /question = person/);

    await page.setViewportSize({ width: 360, height: 720 });
    t.equal(
      await pageOverflow(page),
      0,
      "a narrow page is no wider than its window, whatever the questions are",
    );
    t.same(await listFaults(page), []);
    await shot("narrow");
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${house.running.url}/dashboard/audit`);
    await page.getByText("Search by fields").click();
    await page.getByLabel("Kind of event").fill("key.list");
    const found = page.getByRole("link", { name: /^\d{4}\/\d+$/ }).first();
    // An entry is indexed a moment after it is signed.
    for (let tries = 0; tries < 5_000 && (await found.count()) === 0; tries++) {
      await Promise.all([
        page.waitForResponse(/\/api\/audit\/events\?/),
        page.getByRole("button", { name: "Search" }).click(),
      ]);
      // With an answer the form makes room.
      await page.getByText("Nothing found").or(found).first().waitFor();
      await page.waitForTimeout(200);
    }
    await entries.getByRole("cell", { name: "Listed platform keys" }).first().waitFor();
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

    await page.route("**/api/audit/proofs*", async (route) => {
      const reply = await route.fetch();
      const body = (await reply.json()) as { events: { sub: string }[] };
      await route.fulfill({
        response: reply,
        json: { ...body, events: body.events.map((event) => ({ ...event, sub: "u_other" })) },
      });
    });
    await page.reload();
    await page.getByRole("button", { name: "Verify this answer" }).click();
    await page
      .getByRole("alert")
      .getByText("the list says otherwise than the log: who")
      .first()
      .waitFor();
    await shot("refuted");

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
