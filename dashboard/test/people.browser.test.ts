/** What people change about themselves, their projects and the appliance, in a real browser against the real coordinator. */
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import t, { type Test } from "tap";
import type { ApplianceRole } from "@resontech/coordinator/roles";
import { DashboardHouse } from "./helper/dashboard-house.ts";
import { listFaults } from "./helper/list-faults.ts";
import { shotsOf } from "./helper/shots.ts";
import { accessibilityFaults } from "@resontech/house/accessibility";
import { pageOverflow } from "@resontech/house/page-overflow";

t.setTimeout(600_000);
const house = await DashboardHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { running } = house;
const [ada, root] = [await house.addUser("ada"), await house.addUser("root")];
await house.addUser("bob");

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

/** Lists of the page fold, and it is no wider than a phone. */
async function onPhone(t: Test, page: Page, name: string): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("columnheader", { name: "More" }).first().waitFor();
  await shotsOf(page)(`${name}-phone`);
  t.same(await listFaults(page), [], name);
  t.equal(await pageOverflow(page), 0, name);
  t.same(await accessibilityFaults(page), [], name);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("columnheader", { name: "More" }).first().waitFor({ state: "detached" });
}

/** As `ssh-keygen -t ed25519` writes it. */
function sshPublicKey(comment: string): string {
  const { x = "" } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const part = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const blob = [Buffer.from("ssh-ed25519"), Buffer.from(x, "base64url")].map(part);
  return `ssh-ed25519 ${Buffer.concat(blob).toString("base64")} ${comment}`;
}

t.test("a person keeps SSH public keys, and sees where one is signed in", async (t) => {
  const page = await pageOf(ada.userId, "/");
  await page.getByRole("button", { name: "ada" }).click();
  await page.getByRole("menuitem", { name: "Your profile" }).click();
  for (const name of ["laptop", "desk"]) {
    await page.getByLabel("Another key").fill(sshPublicKey(name));
    await page.getByRole("button", { name: "Add the key" }).click();
    await page.getByRole("cell", { name, exact: true }).waitFor();
  }
  await page.getByLabel("Another key").fill("no key");
  await page.getByRole("button", { name: "Add the key" }).click();
  await page.getByText("ssh_key_invalid").waitFor();
  await page.getByRole("button", { name: "Remove laptop" }).click();
  await page.getByRole("cell", { name: "laptop", exact: true }).waitFor({ state: "detached" });
  t.equal(await page.getByRole("cell", { name: "desk", exact: true }).count(), 1);
  await page.getByRole("button", { name: "Show where ada is signed in" }).click();
  await page.getByRole("cell", { name: "browser, this one" }).waitFor();
  t.same(await accessibilityFaults(page), []);
});

t.test("an administrator makes a project, asks for people, and sees how jobs are", async (t) => {
  const job = await house.submit(ada, "secret-name");
  const page = await pageOf(root.userId, "/people", ["platform-admin"]);
  await page.getByLabel("Name of the project").fill("screening");
  await page.getByLabel("Its first lead").fill("ada");
  await page.getByRole("button", { name: "Make the project" }).click();
  await page.getByText("screening is there. ada leads it").waitFor();
  await page.getByLabel("Whose second factor is lost").selectOption({ label: "bob" });
  await page.getByRole("button", { name: "Ask to void it" }).click();
  await page.getByRole("alert").or(page.getByText("Asked for.")).first().waitFor();
  await page.getByLabel("Whose sessions").selectOption({ label: "ada" });
  await page.getByRole("button", { name: "Show where ada is signed in" }).click();
  await page.getByRole("table", { name: "Sessions of ada" }).waitFor();
  t.same(await accessibilityFaults(page), []);
  await onPhone(t, page, "people");
  await page.getByRole("link", { name: "Appliance", exact: true }).click();
  await page.getByRole("cell", { name: job }).waitFor();
  t.notMatch(await page.locator("main").innerText(), "secret-name", "a job's name is its people's");
});

t.test("an officer ends what a lead gave, and answers who asks what is held", async (t) => {
  const lead = await pageOf(ada.userId, "/people");
  const members = lead.getByRole("region", { name: "Members of screening" });
  await members.getByLabel("User name").fill("bob");
  await members.getByRole("button", { name: "Make a member" }).click();
  await members.getByRole("button", { name: "Take bob out" }).waitFor();
  const page = await pageOf(root.userId, "/people", ["security-officer"]);
  const panel = page.getByRole("region", { name: "One person" });
  await panel.getByLabel("Whose projects and data").selectOption({ label: "bob" });
  await panel.getByRole("cell", { name: "researcher" }).waitFor();
  t.match(
    await panel.getByRole("link", { name: "Download what is held about bob" }).getAttribute("href"),
    /^\/api\/people\/u_[0-9a-f]+\/data$/,
  );
  await panel.getByRole("button", { name: "Take bob out of screening" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Take out" }).click();
  await panel.getByText("bob is out of screening.").waitFor();
  await panel.getByText("bob is in no project of a team").waitFor();
  t.same(await accessibilityFaults(page), []);
});

t.test("a lead takes somebody in and out, hands jobs over, and asks for room", async (t) => {
  const page = await pageOf(ada.userId, "/people");
  const members = page.getByRole("region", { name: "Members of screening" });
  await members.getByLabel("User name").fill("bob");
  await members.getByRole("button", { name: "Make a member" }).click();
  await members.getByRole("button", { name: "Take bob out" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Take out" }).click();
  await members.getByLabel("Jobs of bob go to").selectOption({ label: "ada" });
  await members.getByRole("button", { name: "Hand the jobs over" }).click();
  await members.getByText("0 jobs of bob belong to ada now.").waitFor();
  const room = page.getByRole("region", { name: "Room of screening" });
  await room.getByLabel("The bucket of screening is to hold, in GB").fill("750");
  await room.getByLabel("Reason").fill("scans of the second site");
  await room.getByRole("button", { name: "Ask for this quota" }).click();
  await room.getByText("Asked for.").waitFor();
  const asked = await page.evaluate(
    async () => (await (await fetch("/api/approvals")).json()) as object,
  );
  t.match(asked, [
    {
      ...{ what: { kind: "quota", bytes: 750e9 }, requester: { username: "ada" } },
      reason: "scans of the second site",
    },
  ]);
  await room.getByRole("link", { name: "Requests" }).click();
  const request = page.getByRole("region", { name: /^the bucket of screening may hold/ });
  await request.getByText("scans of the second site").waitFor();
  const change = request.locator("dl").filter({ hasText: "room of screening" });
  t.match(await change.innerText(), /now\s+[\d,.]+ GB\s+then\s+750 GB/);
});

t.test(
  "a lead lets models that hold no numbers fail their jobs, and takes that back",
  async (t) => {
    const page = await pageOf(ada.userId, "/people");
    const force = page.getByRole("region", { name: "What is in force in screening" });
    const fails = force.getByLabel(/A model with weights that are no numbers/);
    const inForce = async () => {
      const projects = await page.evaluate(
        async () =>
          (await (await fetch("/api/projects")).json()) as {
            name: string;
            refusesNonFinite: boolean;
          }[],
      );
      return projects.find(({ name }) => name === "screening")?.refusesNonFinite;
    };
    const set = (refuses: boolean) =>
      Promise.all([
        page.waitForResponse((reply) => reply.request().method() === "PUT" && reply.ok()),
        fails.setChecked(refuses),
      ]);
    await set(true);
    t.equal(await inForce(), true);
    const answer = Promise.withResolvers<void>();
    await page.route("**/api/projects", async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    t.equal(await fails.count(), 0, "before the answer the page tells no state");
    answer.resolve();
    t.ok(await fails.isChecked());
    await page.unroute("**/api/projects");
    await set(false);
    t.equal(await inForce(), false);
  },
);

t.test("how outputs leave is told before anybody changes it", async (t) => {
  const page = await pageOf(ada.userId, "/people");
  const force = page.getByRole("region", { name: "What is in force in screening" });
  const sentence = force.getByText(/^Now outputs of screening leave/);
  await sentence.getByText("as its members like").waitFor();
  t.ok(await force.getByRole("button", { name: "As members like" }).isDisabled());
  await force.getByRole("button", { name: "By approval alone" }).click();
  await sentence.getByText("by approval alone").waitFor();
  await page.reload();
  await sentence.getByText("by approval alone").waitFor();
  t.ok(await force.getByRole("button", { name: "By approval alone" }).isDisabled());
  await force.getByRole("button", { name: "As members like" }).click();
  await force.getByRole("alert").waitFor();
  t.match(await sentence.innerText(), /by approval alone/, "an officer alone takes it back");
});

t.test("an officer reviews who may do what, and takes it along", async (t) => {
  const page = await pageOf(root.userId, "/people", ["security-officer"]);
  await page.getByRole("tab", { name: "Access review" }).click();
  const table = page.getByRole("group", { name: "Who may do what" });
  const row = table.getByRole("row").filter({ hasText: "ada" });
  await row.getByText("screening: project-lead").waitFor();
  t.match(await row.innerText(), /jobs:write/, "keys with what they may do");
  await shotsOf(page)("review");
  t.same(await accessibilityFaults(page), []);
  await onPhone(t, page, "review");
  await page.getByLabel("Show").selectOption({ label: "who holds a role of the whole appliance" });
  await row.waitFor({ state: "detached" });
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download as CSV" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\r\n");
  t.match(lines[0], /^"Name","Pseudonym","Standing","Roles"/);
  t.ok(
    lines.some((line) => /^"ada",.*"screening","project-lead","lead"/.test(line)),
    "all people, whatever is shown",
  );
});

t.test("the private part of a program's key stays in the page", async (t) => {
  const page = await pageOf(ada.userId, "/people");
  const members = page.getByRole("region", { name: "Programs of screening" });
  await members.getByRole("button", { name: "Show the service accounts" }).click();
  await members.getByText("screening has no service account.").waitFor();
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { kty, crv, x, y, d } = privateKey.export({ format: "jwk" });
  await members.getByLabel("Name of the program").fill("nightly");
  await members.getByLabel("Its public key").fill(JSON.stringify({ kty, crv, x, y, d }));
  const [sent] = await Promise.all([
    page.waitForRequest((request) => request.method() === "POST"),
    members.getByRole("button", { name: /^Make the account for 90 days/ }).click(),
  ]);
  t.same((sent.postDataJSON() as { publicKey: object }).publicKey, { kty, crv, x, y });
  t.notMatch(sent.postData(), d);
});

t.test(
  "an administrator made at the host stands on the page until a second person says so",
  async (t) => {
    await house.addUser("rita");
    // The row stands before Keycloak, which is not there, is asked.
    await running.askControl("restore-administrator", { username: "rita" });
    const page = await pageOf(root.userId, "/people", ["security-officer"]);
    await page.getByText(/Root made rita an administrator, without two people/).waitFor();
    t.same(await accessibilityFaults(page), []);
    await page.getByRole("button", { name: "It is right that rita is an administrator" }).click();
    await page.getByText(/Root made rita/).waitFor({ state: "detached" });
  },
);
