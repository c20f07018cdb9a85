/** The page of requests in a real browser: asked for and signed, read and approved by somebody else; and by one person while there is nobody else. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchBrowser } from "@resontech/house/launch-browser";
import type { Page } from "playwright-core";
import t from "tap";
import { evaluateApproval } from "@resontech/audit/approvals/evaluate-approval";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { pinStepUpKeys } from "@resontech/appliance/pin-step-up-keys";
import { findBucketOfProject } from "../../src/identity/bucket-store.ts";
import { leavesByApproval } from "../../src/storage/export-grants.ts";
import { SignInHouse, timeCode } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const STEP_MS = 30_000;
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const browser = await launchBrowser(house.origin);
t.teardown(() => browser.close());
const pinned = join(temporaryFolder(t), "step-up-keys.json");
const policy = "log a+1+AA\nquorum none\n";

const bucketOf = (projectId: string): string =>
  findBucketOfProject(house.api.database.read, projectId)?.name ?? "";

class Person {
  readonly page: Page;
  readonly #secret: string;
  #window = 0;

  private constructor(page: Page, secret: string) {
    this.page = page;
    this.#secret = secret;
  }

  /** At the page of requests. */
  static async arrive(username: string, roles: readonly string[]): Promise<Person> {
    const { password, secret } = await house.addCodeAccount(username, roles);
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const person = new Person(await context.newPage(), secret);
    person.page.setDefaultTimeout(120_000);
    await person.page.goto(`${house.origin}/dashboard/approvals`);
    await person.page.fill("#username", username);
    await person.page.fill("#password", password);
    await person.page.click("#kc-login");
    if (roles.length > 0) await person.showCode();
    await person.page.waitForSelector("#done", { state: "attached" });
    return person;
  }

  async showCode(): Promise<void> {
    await this.page.waitForSelector("#otp");
    const now = (): number => Math.floor(Date.now() / STEP_MS);
    this.#window = Math.max(this.#window + 1, now());
    while (this.#window > now() + 1) await sleep(250);
    await this.page.fill("#otp", timeCode(this.#secret, this.#window * STEP_MS));
    await this.page.click("#kc-login");
  }

  async said(text: RegExp): Promise<string> {
    await this.page.getByText(text).waitFor();
    return (await this.page.textContent("#done")) ?? "";
  }
}

t.test("who is alone signs, and it goes on alone", async (t) => {
  const root = await Person.arrive("root", ["platform-admin"]);
  t.equal(await root.page.isVisible("#erasure"), false, "an administrator erases nobody");
  await root.page.setInputFiles("#policy", {
    ...{ name: "audit.policy", mimeType: "text/plain", buffer: Buffer.from(policy) },
  });
  await root.page.click("#audit-policy button");
  await root.showCode();
  const said = await root.said(/The request is approved/);
  const id = /a_[0-9a-f]+/.exec(said)?.[0] ?? "";
  await pinStepUpKeys(pinned, house.keycloak.address, house.admin);
  const proof = house.parts.approvals.proof(id);
  t.equal(proof.approved, null);
  const act = {
    what: { kind: "audit-policy", policy },
    ...{ requesterRoles: ["platform-admin"], approverRoles: ["security-officer"] },
  };
  t.match(await evaluateApproval(pinned, proof, act, Date.now()), { singlePerson: true });
  await house.addAccount("new-officer", ["security-officer"]);
  await pinStepUpKeys(pinned, house.keycloak.address, house.admin);
  t.match(
    await evaluateApproval(pinned, proof, act, Date.now()),
    { code: "approval_single" },
    "from the moment that Keycloak has somebody else",
  );
});

t.test(
  "a member asks for outputs of a job; what was chosen outlives the second factor",
  async (t) => {
    const emma = await Person.arrive("emma", []);
    const session = await emma.page.evaluate(
      "fetch('/api/session').then((answer) => answer.json())",
    );
    const { user, projects, acr } = session as {
      user: { id: string };
      projects: { id: string }[];
      acr: string;
    };
    t.equal(acr, "1", "she has no role that asks for more at the sign-in");
    const { kernel } = house.api;
    kernel.putRunning({ projectId: projects[0]!.id, userId: user.id, bucket: "emma-1" });
    const output = { uploadId: "u", sizeBytes: 7, storedAt: 1, sha256: "a".repeat(64) };
    for (const name of ["a.pt", "b.pt"])
      kernel.left.push({ ...output, key: `jobs/x/model_out/${name}`, versionId: name });
    await emma.page.goto(`${house.origin}/dashboard/jobs/state-RUNNING/files`);
    await emma.page.getByRole("checkbox", { name: /b\.pt/ }).uncheck();
    await emma.page.getByLabel("Reason").fill("for the paper");
    await emma.page.getByRole("button", { name: "Ask", exact: true }).click();
    await emma.showCode();
    await emma.page.waitForSelector("#export");
    t.equal(await emma.page.getByRole("checkbox", { name: /b\.pt/ }).isChecked(), false);
    await emma.page.getByRole("button", { name: "Ask", exact: true }).click();
    await emma.page.getByText(/You have asked/).waitFor();
    await emma.page.getByRole("link", { name: "Requests" }).click();
    await emma.page.waitForSelector("#requests");
    const text = await emma.page.textContent("#requests");
    t.match(text, /emma may read 1 output of job state-RUNNING for a day/);
    t.match(text, /for the paper/);

    await emma.page.getByRole("link", { name: "People" }).click();
    await emma.page.getByRole("button", { name: "By approval alone" }).click();
    await emma.page.getByText(/leave by approval alone from now on/).waitFor();
    await emma.page.getByRole("button", { name: "As members like" }).click();
    await emma.page.getByRole("alert").waitFor();
    t.equal(leavesByApproval(house.api.database.read, bucketOf(projects[0]!.id)), true);
  },
);

t.test("one asks and signs, another one reads and signs", async (t) => {
  const steward = await Person.arrive("steward", ["data-steward"]);
  const officer = await Person.arrive("officer", ["security-officer"]);
  await steward.page.fill("#subject", "u_gone");
  await steward.page.fill("#request", "req-1");
  await steward.page.fill("#legal-basis", "gdpr-17");
  await steward.page.click("#erasure button");
  await steward.showCode();
  await steward.said(/You have signed the request/);
  t.equal(
    await steward.page.getByRole("button", { name: /^Sign and approve/ }).count(),
    0,
    "nobody is offered the own request to approve",
  );

  await officer.page.reload();
  const approve = officer.page.getByRole("button", { name: /^Sign and approve/ });
  await approve.waitFor();
  t.match(
    await officer.page.textContent("#requests"),
    /"subject": "u_gone"/,
    "exactly what is asked",
  );
  await approve.press("Enter");
  await officer.showCode();
  const said = await officer.said(/The request is approved/);
  const id = /a_[0-9a-f]+/.exec(said)?.[0] ?? "";
  const proof = house.parts.approvals.proof(id);
  const roles = ["security-officer", "data-steward"];
  const act = {
    what: { kind: "erasure", subject: "u_gone", request: "req-1", legalBasis: "gdpr-17" },
    ...{ requesterRoles: roles, approverRoles: roles },
  };
  t.match(await evaluateApproval(pinned, proof, act, Date.now()), {
    ...{ singlePerson: false, requester: proof.requested.by, approvers: [proof.approved?.by] },
  });

  t.equal(await steward.page.isVisible("#hold"), false, "a steward sets no hold");
  await steward.page.fill("#disclosure-subjects", "u_2 u_1");
  await steward.page.fill("#disclosure-shard", "2026");
  await steward.page.fill("#disclosure-receiver", "auditor-1");
  t.ok(await steward.page.isVisible("#lift"));
  await officer.page.fill("#hold-subject", "u_kept");
  await officer.page.fill("#hold-name", "case-7");
  await officer.page.click("#hold button");
  await officer.showCode();
  const hold = /a_[0-9a-f]+/.exec(await officer.said(/The request is approved/))?.[0] ?? "";
  const held = house.parts.approvals.proof(hold);
  const what = { kind: "hold", subject: "u_kept", hold: "case-7" };
  const alone = { what, requesterRoles: ["security-officer"], approverRoles: [] };
  t.match(
    await evaluateApproval(pinned, held, { ...alone, signers: "one" }, Date.now()),
    { singlePerson: false, requester: held.requested.by, signatures: { length: 1 } },
    "an officer's own signature is enough for a hold",
  );
});
