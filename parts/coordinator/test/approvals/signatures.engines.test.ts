/**
 * What a person signs at Keycloak's own page, through the real front door, and what auditd and the vault then make of it: they have the realm's keys from
 * Keycloak, and nobody's word but the tokens.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalProof } from "@resontech/contracts/approval-proof";
import t from "tap";
import { until } from "@resontech/audit/testing/until";
import { gateOf, startedBoth } from "@resontech/vault/testing/started-both";
import { say } from "@resontech/vault/testing/say";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { pinStepUpKeys } from "@resontech/appliance/pin-step-up-keys";
import { locationOf, PersonBrowser } from "../helper/person-browser.ts";
import { SignInHouse, timeCode } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const STEP_MS = 30_000;
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { origin } = house;
const [auditd, vault] = await startedBoth(t);
const pinnedFile = join(auditd.root, "step-up-keys.json");
const pin = () => pinStepUpKeys(pinnedFile, house.keycloak.address, house.admin);

/** Somebody with a code generator, in a browser of the own. */
class Person {
  readonly browser = new PersonBrowser(house.caFile);
  readonly username: string;
  readonly #password: string;
  readonly #secret: string;
  readonly #hash: "sha1" | "sha256";
  #window = 0;

  private constructor(
    account: { username: string; password: string; secret: string },
    hash: "sha1" | "sha256",
  ) {
    this.#hash = hash;
    this.username = account.username;
    this.#password = account.password;
    this.#secret = account.secret;
  }

  /** @param hash of the code generator: SHA-256 is of one that was set up with a release before */
  static async arrive(
    username: string,
    roles: readonly string[],
    hash: "sha1" | "sha256" = "sha1",
  ): Promise<Person> {
    const person = new Person(await house.addCodeAccount(username, roles, hash), hash);
    const page = await person.browser.ask(`${origin}/auth/sign-in`);
    const back = await person.browser.submit(page, { username, password: person.#password });
    await person.showCode(locationOf(back));
    return person;
  }

  /** Follows to Keycloak's page, and back with a code that was not used yet. @returns the status of the way back */
  async showCode(location: string): Promise<number> {
    const page = await this.browser.ask(location);
    const back = await this.browser.submit(page, { otp: await this.#code() });
    return (await this.browser.ask(locationOf(back), { follow: false })).status;
  }

  /** Keycloak takes each code once, and that of the next half minute already. */
  async #code(): Promise<string> {
    const now = (): number => Math.floor(Date.now() / STEP_MS);
    this.#window = Math.max(this.#window + 1, now());
    while (this.#window > now() + 1) await sleep(250);
    return timeCode(this.#secret, this.#window * STEP_MS, this.#hash);
  }

  async ask(
    method: "GET" | "POST",
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const session = JSON.parse((await this.browser.ask(`${origin}/api/session`)).body) as {
      csrfToken: string;
    };
    const { status, body: text } = await this.browser.ask(`${origin}${path}`, {
      method,
      headers: {
        "sec-fetch-site": "same-origin",
        "x-rt-csrf": session.csrfToken,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  }

  /** @returns where Keycloak asks for the second factor */
  async wayToSign(id: string, answer: "request" | "approve"): Promise<string> {
    const { status, body } = await this.ask("POST", `/api/approvals/${id}/sign`, { answer });
    t.equal(status, 200);
    return String(body["location"]);
  }

  async sign(id: string, answer: "request" | "approve"): Promise<number> {
    return await this.showCode(await this.wayToSign(id, answer));
  }
}

const nowS = () => Math.floor(Date.now() / 1_000);
const named = { subject: "u_gone", request: "req-1", legalBasis: "gdpr-17" };
const ask = (proof: ApprovalProof, changes: object = {}) =>
  vault.ask({ verb: "erase", ...named, approval: proof, ...changes });

t.test("two people sign an erasure, and the vault believes Keycloak alone", async (t) => {
  await using gate = await gateOf(auditd);
  await say(gate, "u_gone", "10.0.0.1");
  await until(async () => (await vault.status()).sealed === 1);
  const steward = await Person.arrive("steward", ["data-steward"]);
  const officer = await Person.arrive("officer", ["security-officer"], "sha256");
  rmSync(pinnedFile);
  t.same(await pin(), { added: 1, retired: 0 });
  t.same(await pin(), { added: 0, retired: 0 }, "nothing changed, nothing is written");

  const half = { kind: "audit-policy", policy: "log \ud800" };
  t.match(await steward.ask("POST", "/api/approvals", { what: half }), {
    status: 400,
    body: { code: "validation_failed" },
  });
  const asked = await steward.ask("POST", "/api/approvals", {
    what: { kind: "erasure", ...named },
  });
  t.match(asked, { status: 201, body: { state: "requested", isSigned: false } });
  const id = String(asked.body["id"]);
  const approve = () => officer.ask("POST", `/api/approvals/${id}/approve`, {});
  t.match(await approve(), { status: 409, body: { code: "signature_required" } });
  t.throws(() => house.parts.approvals.proof(id), { code: "approval_required" });

  // Keycloak tells times in whole seconds: in this one nobody has shown anything yet.
  const signInS = nowS();
  while (nowS() <= signInS) await sleep(50);
  const askedS = nowS();
  t.equal(await steward.sign(id, "request"), 302);
  t.match(await steward.ask("GET", `/api/approvals/${id}`), { body: { isSigned: true } });
  t.match(
    await approve(),
    { status: 409, body: { code: "signature_required" } },
    "a fresh sign-in is no signature of this",
  );
  t.equal(await officer.sign(id, "approve"), 302);
  t.match(await approve(), { status: 200, body: { state: "approved", singlePerson: false } });

  const proof = house.parts.approvals.proof(id);
  for (const { token } of [proof.requested, proof.approved!]) {
    const [, claims = ""] = token.split(".");
    const { auth_time: shownAt } = JSON.parse(
      Buffer.from(claims, "base64url").toString("utf8"),
    ) as { auth_time: number };
    t.ok(shownAt >= askedS, "the factor was shown for this very act");
  }
  t.match(
    house.api.audit.drafts.filter(({ type }) => type === "iam.approval.sign"),
    [{ detail: { answer: "request" } }, { detail: { answer: "approve" } }],
  );
  for (const { token } of [proof.requested, proof.approved!])
    t.match(
      await house.api.app.inject({
        ...{
          url: "/api/me",
          headers: { authorization: `Bearer ${token}`, "x-rt-peer": "10.0.0.1" },
        },
      }),
      { statusCode: 401 },
      "a signature is no access token",
    );

  const subject = { subject: "u_other" };
  t.match(await ask(proof, subject), { error: { code: "step_up_nonce" } }, "of nobody else");
  t.match(
    await ask({ ...proof, approved: null }),
    { error: { code: "approval_single" } },
    "Keycloak has somebody else who could agree",
  );
  t.match(await ask(proof), { confirmed: true, erased: [{ count: 1 }] });
  t.match(await ask(proof), { error: { code: "approval_used" } });
  t.match(
    await officer.ask("POST", `/api/approvals/${id}/sign`, { answer: "approve" }),
    { status: 409, body: { code: "approval_answered" } },
    "what was answered is signed no more",
  );
  await auditd.settled();
  const [requested] = (await readLeaves(auditd.logDir)).filter(
    ({ type }) => type === "privacy.erasure",
  );
  t.match(requested, {
    detail: {
      ...{ approval: id, requester: proof.requested.by, approvers: [proof.approved!.by] },
      signatures: [/^[0-9a-f]{64}$/, /^[0-9a-f]{64}$/],
    },
  });
  const { keys } = JSON.parse(readFileSync(pinnedFile, "utf8")) as { keys: object[] };
  t.match(keys, [{ notAfter: null }]);

  t.test("an officer signs a legal hold alone, and two people its lift", async (t) => {
    // Each arrives anew: Keycloak takes no code twice, and nobody waits for the next one.
    const olga = await Person.arrive("olga", ["security-officer"]);
    const held = { subject: "u_held", hold: "case-7" };
    const what = { kind: "hold", ...held };
    t.match(await steward.ask("POST", "/api/approvals", { what }), { status: 403 });
    const asked = await olga.ask("POST", "/api/approvals", { what });
    t.match(asked, { status: 201, body: { state: "requested", isSigned: false } });
    const setting = String(asked.body["id"]);
    const answer = (by: Person, of: string) => by.ask("POST", `/api/approvals/${of}/approve`, {});
    t.match(await answer(olga, setting), { status: 409, body: { code: "signature_required" } });
    t.equal(await olga.sign(setting, "request"), 302);
    t.match(await answer(officer, setting), { status: 404 }, "nobody else answers it");
    t.match(await answer(olga, setting), {
      ...{ status: 200, body: { state: "approved", singlePerson: false } },
    });
    const own = house.parts.approvals.proof(setting);
    t.match(await vault.ask({ verb: "hold", ...held, approval: own }), { holds: ["case-7"] });

    const bert = await Person.arrive("bert", ["data-steward"]);
    const wished = await bert.ask("POST", "/api/approvals", { what: { kind: "lift", ...held } });
    const lifting = String(wished.body["id"]);
    t.equal(await bert.sign(lifting, "request"), 302);
    t.match(await answer(bert, lifting), { status: 403, body: { code: "own_request" } });
    const otto = await Person.arrive("otto", ["security-officer"]);
    t.equal(await otto.sign(lifting, "approve"), 302);
    t.match(await answer(otto, lifting), { status: 200, body: { state: "approved" } });
    const both = house.parts.approvals.proof(lifting);
    const lift = { verb: "lift", ...held, approval: both };
    t.match(await vault.ask({ ...lift, approval: { ...both, approved: null } }), {
      error: { code: "approval_single" },
    });
    t.match(await vault.ask(lift), { holds: [] });
    t.match(await vault.ask({ verb: "hold", ...held, approval: own }), {
      error: { code: "approval_used" },
    });
    await auditd.settled();
    const entries = (await readLeaves(auditd.logDir)).filter(
      ({ type, phase }) => type === "privacy.hold" && phase === "completed",
    );
    t.match(entries, [
      {
        actor: { sub: own.requested.by, kind: "operator" },
        detail: { lifted: false, approval: setting, signatures: { length: 1 } },
      },
      {
        actor: { sub: both.requested.by, kind: "operator" },
        detail: { lifted: true, approval: lifting, approvers: [both.approved!.by] },
      },
    ]);

    const disclosure = { kind: "disclosure", shard: "2026", receiver: "auditor-3" };
    const opening = await bert.ask("POST", "/api/approvals", {
      what: { ...disclosure, subjects: ["u_2", "u_1"] },
    });
    t.match(opening, { status: 201, body: { what: { subjects: ["u_1", "u_2"] } } });
    t.match(await answer(otto, String(opening.body["id"])), {
      ...{ status: 409, body: { code: "signature_required" } },
    });
  });

  t.test("nobody signs in another's place", async (t) => {
    const again = await steward.ask("POST", "/api/approvals", {
      what: { kind: "erasure", ...named, request: "req-2" },
    });
    const path = String(again.body["id"]);
    const location = await steward.wayToSign(path, "request");
    // The pending sign-in of one, taken over by a browser in which somebody else signed in at Keycloak.
    for (const [name, value] of steward.browser.cookies)
      if (name.startsWith("__Host-rt-in-")) officer.browser.cookies.set(name, value);
    t.equal(await officer.showCode(location), 403);
    t.match(house.api.audit.drafts.filter(({ type }) => type === "auth.session.refused").at(-1), {
      detail: { reason: "other_person" },
    });
    t.match(await steward.ask("GET", `/api/approvals/${path}`), { body: { isSigned: false } });
  });
});
