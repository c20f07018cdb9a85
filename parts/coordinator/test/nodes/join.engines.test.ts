import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { certificateProfile } from "@resontech/contracts/federation-certificates";
import t from "tap";
import { makeAttemptRoot, signAttemptLeaf } from "../../src/nodes/attempt-certificates.ts";
import { CoreFixture } from "../kernel/core-fixture.ts";
import { CLEAN } from "../kernel/scripted-agent.ts";
import { makeSigningRequest } from "./node-certificates.ts";
import { runnerSpecOf } from "../kernel/told-role.ts";

/** Of the host, not a package. */
const OPENSSL = "openssl";

t.test("a token admits one node once, and a node is only its latest certificate", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const { joinTokens } = fixture.core;

  await t.test(
    "unknown, used, expired tokens and bad requests are refused and use nothing up",
    async (t) => {
      const { csrPem } = await makeSigningRequest("node-x");
      await t.rejects(joinTokens.join({ token: "rtj_unknown", csr: csrPem }, "127.0.0.1"), {
        code: "join_token_invalid",
      });
      await t.rejects(joinTokens.make("Node_X", 60), { code: "validation_failed" });
      const { token } = await joinTokens.make("node-x", 60);
      await t.rejects(joinTokens.join({ token, csr: "no request" }, "127.0.0.1"), {
        code: "csr_invalid",
      });
      const reply = await joinTokens.join({ token, csr: csrPem }, "127.0.0.1");
      const leaf = new X509Certificate(reply.certChain);
      t.equal(leaf.subject, "CN=node-x", "the request's own subject counts for nothing");
      t.equal(leaf.checkHost("node-x"), "node-x");
      t.equal(reply.certChain.match(/BEGIN CERTIFICATE/g)?.length, 2);
      await t.rejects(joinTokens.join({ token, csr: csrPem }, "127.0.0.1"), {
        code: "join_token_invalid",
      });
      const expired = await joinTokens.make("node-y", -1);
      await t.rejects(joinTokens.join({ token: expired.token, csr: csrPem }, "127.0.0.1"), {
        code: "join_token_invalid",
      });
      const rows = JSON.stringify(fixture.core.read.prepare("SELECT * FROM join_tokens").all());
      t.notOk(rows.includes(token), "tokens are stored as hashes");
    },
  );

  await t.test("of two that use a token at once, one is admitted", async (t) => {
    const { token } = await joinTokens.make("node-z", 60);
    const requests = await Promise.all([makeSigningRequest("a"), makeSigningRequest("b")]);
    const results = await Promise.allSettled(
      requests.map(({ csrPem }) => joinTokens.join({ token, csr: csrPem }, "127.0.0.1")),
    );
    t.same(results.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
  });

  await t.test("joining again voids the older certificate", async (t) => {
    const older = await fixture.agent("node-a", 2);
    await older.close();
    const newer = await fixture.agent("node-a", 2);
    await t.rejects(older.connect(), /authorization/i);
    t.same(await newer.desired(), []);
  });

  await t.test(
    "members get certificates of their attempt by role, never by what they ask for",
    async (t) => {
      const agent = await fixture.agent("node-a", 2);
      const { id } = await fixture.submit("signed");
      const members = await agent.desiredOf(id, 3);
      const [server, client] = members as [(typeof members)[0], (typeof members)[0]];
      const csr = rsaRequest(fixture.dir, "CN=whoever");
      const sign = (of: ScriptedAgentMember, identity: string, request = csr) =>
        agent.call<{ cert: string; rootCert: string }>("sign", {
          ...{ nodeEpoch: agent.epoch, member: of.member, fence: of.fence, identity, csr: request },
        });
      type ScriptedAgentMember = (typeof members)[0];
      const signed = await sign(server, "member");
      const admin = await sign(server, "admin");
      const site = await sign(client, "member");
      t.match(
        new X509Certificate(signed.cert).subject,
        new RegExp(`CN=${runnerSpecOf(server).serverName}`),
      );
      t.match(new X509Certificate(admin.cert).subject, /CN=submitter/);
      t.match(new X509Certificate(site.cert).subject, /CN=site-1/);
      t.equal(site.rootCert, signed.rootCert, "one root for the attempt");
      await t.rejects(sign(client, "admin"), { code: "not_allowed" });
      const { csrPem } = await makeSigningRequest("an EC key");
      await t.rejects(sign(server, "member", csrPem), { code: "invalid_request" });
      await fixture.cancel(id);
      for (const member of members) await agent.report(member, CLEAN);
      await fixture.until(id, "CANCELLED");
      t.equal(
        fixture.core.read.prepare("SELECT ca_key FROM attempts").pluck().get(),
        null,
        "its key is gone with the attempt",
      );
      await t.rejects(sign(server, "member"), { code: "stale_fence" });
    },
  );
});

t.test("what an attempt signs, openssl verifies for its purpose", async (t) => {
  const dir = t.testdir();
  const root = await makeAttemptRoot("job-1-a1");
  writeFileSync(join(dir, "root.pem"), root.certPem);
  const csr = rsaRequest(dir, "CN=x");
  const identities = [
    [{ kind: "server", org: "o", serverName: "s-1" }, "sslserver"],
    [{ kind: "client", org: "o", site: "site-1" }, "sslclient"],
    [{ kind: "submitter", org: "o" }, "sslclient"],
  ] as const;
  for (const [identity, purpose] of identities) {
    writeFileSync(
      join(dir, "leaf.pem"),
      await signAttemptLeaf(root, certificateProfile(identity), csr),
    );
    const verify = [
      "verify",
      "-x509_strict",
      "-purpose",
      purpose,
      "-CAfile",
      join(dir, "root.pem"),
      join(dir, "leaf.pem"),
    ];
    t.match(execFileSync(OPENSSL, verify, { encoding: "utf8" }), /leaf\.pem: OK/, identity.kind);
  }
});

function rsaRequest(dir: string, subject: string): string {
  const key = join(dir, "rsa.key");
  const args = [
    "req",
    "-new",
    "-newkey",
    "rsa:2048",
    "-noenc",
    "-keyout",
    key,
    "-subj",
    `/${subject}`,
  ];
  return execFileSync(OPENSSL, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}
