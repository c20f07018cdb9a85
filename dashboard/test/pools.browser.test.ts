/** Pools, maintenance and reservations on the page Queue, in a real browser against the real coordinator. */
import type { Page } from "playwright-core";
import t from "tap";
import type { ApplianceRole } from "@resontech/coordinator/roles";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { pageOverflow } from "@resontech/house/page-overflow";
import { DashboardHouse } from "./helper/dashboard-house.ts";
import { listFaults } from "./helper/list-faults.ts";
import { shotsOf } from "./helper/shots.ts";

t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { running } = house;
const [ada, bert, root] = [
  ...[await house.addUser("ada"), await house.addUser("bert"), await house.addUser("root")],
] as const;

async function pageOf(
  userId: string,
  path: string,
  roles: readonly ApplianceRole[] = [],
): Promise<Page> {
  const context = await house.windowOf(userId, { roles, bypassPolicy: true });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${running.url}/dashboard${path}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}
const pools = (page: Page) => page.getByRole("region", { name: "Pools" });
const calendar = (page: Page) => page.getByRole("region", { name: "Maintenance and reservations" });
/** As a field for a time shows it, so many hours from now. */
const inHours = (hours: number) => {
  const time = new Date(Date.now() + hours * 3_600_000);
  time.setMinutes(time.getMinutes() - time.getTimezoneOffset());
  return time.toISOString().slice(0, 16);
};

t.test("an administrator makes a pool, and nodes are told apart", async (t) => {
  await house.addNode("node-a", 2);
  await house.addNode("node-b", 1);
  const page = await pageOf(root.userId, "/queue", ["platform-admin"]);
  await pools(page).getByText("There is no pool").waitFor();
  await calendar(page).getByText("No node is in maintenance or reserved").waitFor();
  await pools(page).getByRole("button", { name: "New pool" }).click();
  const form = page.getByRole("form", { name: "A new pool" });
  await form.getByRole("textbox", { name: /^Name/ }).fill("cardio");
  await form.getByRole("combobox", { name: /^Project/ }).selectOption(ada.project);
  await form.getByRole("combobox", { name: /^Idle nodes/ }).selectOption("lent");
  await form.getByRole("listbox", { name: /^Nodes/ }).selectOption(["node-a"]);
  await shotsOf(page)("pool-form");
  t.same(await accessibilityFaults(page), []);
  await form.getByRole("button", { name: "Make the pool" }).click();
  const row = pools(page).getByRole("row", { name: /^cardio/ });
  await row.getByRole("cell", { name: "2 of 2 cpu free" }).waitFor();
  await row.getByRole("cell", { name: "lends what is idle" }).waitFor();

  await pools(page).getByRole("button", { name: "Change the pool cardio" }).click();
  const change = page.getByRole("form", { name: "Pool cardio" });
  await change.getByRole("spinbutton", { name: /^Longest time limit/ }).fill("600");
  await change.getByRole("listbox", { name: /^Classes/ }).selectOption(["interactive", "train"]);
  await change.getByRole("spinbutton", { name: /^Most workers of one project/ }).fill("2");
  await change.getByRole("spinbutton", { name: /^Inputs that each node keeps/ }).fill("200");
  await change.getByRole("textbox", { name: /^Workers that it expects/ }).fill("h100, a100");
  await change.getByRole("listbox", { name: /^Nodes/ }).selectOption(["node-a", "node-b"]);
  await change.getByRole("button", { name: "Change the pool" }).click();
  await row.getByRole("cell", { name: "node-a, node-b" }).waitFor();
  await row.getByRole("cell", { name: "time limit of at most 600 min" }).waitFor();
  await row.getByRole("cell", { name: "classes interactive, train" }).waitFor();
  await row.getByRole("cell", { name: "at most 2 workers of one project" }).waitFor();
  const odd = pools(page).getByRole("list", { name: "What does not go together" });
  await odd.getByText("cardio expects h100, a100; node-a shows cpu.").waitFor();
  await shotsOf(page)("pools");
  const appliance = await pageOf(root.userId, "/appliance", ["platform-admin"]);
  await appliance
    .getByText("node node-a of the pool cardio shows cpu, which the pool does not expect")
    .waitFor();
  t.same(await accessibilityFaults(page), []);

  await pools(page).getByRole("button", { name: "Change the pool cardio" }).click();
  await change.getByRole("listbox", { name: /^Classes/ }).selectOption([]);
  await change.getByRole("textbox", { name: /^Workers that it expects/ }).fill("");
  await change.getByRole("button", { name: "Change the pool" }).click();
  await odd.waitFor({ state: "detached" });
  t.notMatch(await row.innerText(), /classes|expects/, "what is emptied is lifted");
  t.match(await row.innerText(), /keeps inputs of up to 186 GiB a node/);
});

t.test(
  "maintenance and a reservation are announced; an overlap and the past are refused",
  async (t) => {
    const page = await pageOf(root.userId, "/queue", ["platform-admin"]);
    await calendar(page).getByRole("button", { name: "New entry" }).click();
    const form = page.getByRole("form", { name: "A new entry of the calendar" });
    await form.getByRole("listbox", { name: /^Nodes/ }).selectOption(["node-b"]);
    await form.getByLabel("From").fill(inHours(-3));
    await form.getByLabel("Until").fill(inHours(-2));
    await form.getByLabel("Reason").fill("new firmware");
    await form.getByRole("button", { name: "Announce maintenance" }).click();
    await form.getByText("until is in the past").waitFor();
    await form.getByLabel("From").fill(inHours(2));
    await form.getByLabel("Until").fill(inHours(4));
    await form.getByRole("button", { name: "Announce maintenance" }).click();
    await calendar(page).getByRole("cell", { name: "new firmware" }).waitFor();

    await calendar(page).getByRole("button", { name: "New entry" }).click();
    await form.getByRole("combobox", { name: /^Where/ }).selectOption({ label: "The pool cardio" });
    await form.getByLabel("From").fill(inHours(3));
    await form.getByLabel("Until").fill(inHours(5));
    await form.getByRole("button", { name: "Announce maintenance" }).click();
    await form.getByText(/has node-b from .* already/).waitFor();
    await form.getByRole("combobox", { name: /^What/ }).selectOption("reservation");
    await form.getByRole("combobox", { name: /^For project/ }).selectOption(ada.project);
    await form.getByRole("button", { name: "Reserve", exact: true }).click();
    await calendar(page).getByRole("cell", { name: "pool cardio" }).waitFor();
    await shotsOf(page)("calendar");
    t.same(await accessibilityFaults(page), []);
  },
);

t.test(
  "an entry is moved and given another reason, and a time that is over is refused",
  async (t) => {
    const page = await pageOf(root.userId, "/queue", ["platform-admin"]);
    const row = calendar(page).getByRole("row", { name: /new firmware/ });
    const until = row.getByRole("cell").nth(2);
    const before = await until.innerText();
    await row.getByRole("button", { name: /^Change cal-/ }).click();
    const form = page.getByRole("form", { name: /^Entry cal-/ });
    const save = form.getByRole("button", { name: "Change the entry" });
    t.ok(await save.isDisabled(), "nothing differs yet");
    await form.getByLabel("Until").fill(inHours(-1));
    await save.click();
    await form.getByText("until is in the past").waitFor();
    await form.getByLabel("Until").fill(inHours(9));
    await form.getByLabel("Reason").fill("new firmware, and disks");
    await shotsOf(page)("calendar-change");
    t.same(await accessibilityFaults(page), []);
    await save.click();
    await calendar(page).getByRole("cell", { name: "new firmware, and disks" }).waitFor();
    await form.waitFor({ state: "detached" });
    t.not(await until.innerText(), before, "it lasts longer");
  },
);

t.test("a stranger sees when, and neither whose nor why", async (t) => {
  const page = await pageOf(bert.userId, "/queue");
  await calendar(page).getByRole("cell", { name: "Reserved for another project" }).waitFor();
  await calendar(page).getByRole("cell", { name: "new firmware" }).waitFor();
  await pools(page).getByText("You see no pool").waitFor();
  t.notMatch(await page.locator("main").innerText(), /cardio|ada/);
  t.equal(
    await page
      .locator("main")
      .getByRole("button", { name: /^(Call off|New|Change|Remove)/ })
      .count(),
    0,
  );
  const own = await pageOf(ada.userId, "/queue");
  await pools(own)
    .getByRole("row", { name: /^cardio/ })
    .waitFor();
});

t.test("forms name a pool of the project, and what each member asks of its node", async (t) => {
  const page = await pageOf(ada.userId, "/submit?as=command");
  const field = page.getByRole("combobox", { name: /^Pool/ });
  await field.selectOption("cardio");
  await page.getByRole("spinbutton", { name: /^Processors for each member/ }).fill("2");
  await page.getByRole("spinbutton", { name: /^Memory of the node for each member/ }).fill("512");
  const code = page.locator("main");
  await code.getByText(/"cpusPerMember":2,"hostMemoryMbPerMember":512,"pool":"cardio"/).waitFor();
  await shotsOf(page)("submit-command");
  t.same(await accessibilityFaults(page), []);
  await page.goto(`${running.url}/dashboard/submit?as=predictor`);
  await field.selectOption("cardio");
  await code.getByText(/resontech infer deploy FOLDER .*--pool cardio/).waitFor();
  const stranger = await pageOf(bert.userId, "/submit?as=command");
  await stranger.getByRole("spinbutton", { name: /^Processors/ }).waitFor();
  t.equal(await stranger.getByRole("combobox", { name: /^Pool/ }).count(), 0, "nor is it named");
});

t.test("the sections are for every hand, screen and theme", async (t) => {
  const page = await pageOf(root.userId, "/queue", ["platform-admin"]);
  await pools(page)
    .getByRole("row", { name: /^cardio/ })
    .waitFor();
  await calendar(page).getByRole("cell", { name: "new firmware" }).waitFor();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    t.same(await accessibilityFaults(page), [], colorScheme);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("columnheader", { name: "More" }).first().waitFor();
  t.equal(await pageOverflow(page), 0);
  t.same(await listFaults(page), []);
  t.same(await accessibilityFaults(page), []);
});

t.test("what is called off and removed is gone", async (t) => {
  const page = await pageOf(root.userId, "/queue", ["platform-admin"]);
  await pools(page).getByRole("button", { name: "Remove the pool cardio" }).click();
  const question = page.getByRole("alertdialog");
  await question.getByRole("button", { name: "Remove the pool" }).click();
  await question.getByText(/of the calendar is of the pool/).waitFor();
  await question.getByRole("button", { name: "Back" }).click();
  for (const left of [1, 0]) {
    await calendar(page)
      .getByRole("button", { name: /^Call off/ })
      .first()
      .click();
    await question.getByRole("button", { name: "Call it off" }).click();
    await question.waitFor({ state: "detached" });
    if (left === 0) await calendar(page).getByText("No node is in maintenance").waitFor();
  }
  await pools(page).getByRole("button", { name: "Remove the pool cardio" }).click();
  await question.getByRole("button", { name: "Remove the pool" }).click();
  await pools(page).getByText("There is no pool").waitFor();
  t.pass("the page is as at first");
});
