/** Certificates of nodes that renew themselves: over the real bus, and after their end at the door where hosts join. */
import { hash, sign, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { type JoinReply, RENEWAL_GRACE_MS } from "@resontech/contracts/agent-protocol";
import { formatRenewalToken, renewalBytes } from "@resontech/contracts/renewal-token";
import t from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { certificateSha256 } from "../../src/nodes/certificate-authority.ts";
import * as x509 from "../../src/nodes/x509.ts";
import { CoreFixture } from "../kernel/core-fixture.ts";
import { ScriptedAgent } from "../kernel/scripted-agent.ts";
import { makeSigningRequest } from "./node-certificates.ts";

const P256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;

t.setTimeout(600_000);

t.test("a node is its own certificate and the next one, until it comes with that", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const older = await fixture.agent("node-a", 2);
  const peer = await fixture.agent("node-b", 2);
  await fixture.core.commit.run(() => fixture.core.cordon("node-a", "a visitor"));
  const { id } = await fixture.submit("renewed");
  await peer.desiredOf(id, 3);

  const renewed = (csr: string) =>
    older.call<{ certChain: string }>("renew", { nodeEpoch: older.epoch, csr });
  const { csrPem } = await makeSigningRequest("never fetched");
  const lostAnswer = await renewed(csrPem);
  const tokens = {
    join: async ({ csr }: { csr: string }): Promise<JoinReply> => ({
      ...{ node: "node-a", natsUrl: "", registry: "" },
      rootCert: readFileSync(fixture.ca.rootCertFile, "utf8"),
      certChain: (await renewed(csr)).certChain,
    }),
  };
  const hints = peer.hints;
  const newer = await ScriptedAgent.join("node-a", "", tokens, fixture.nats.url);
  t.teardown(() => newer.close());
  await newer.register(2);
  t.equal(new X509Certificate(newer.identity.certChain).subject, "CN=node-a");
  t.not(newer.certificateSha256, certificateSha256(lostAnswer.certChain));
  while (peer.hints === hints) await new Promise((resolve) => setTimeout(resolve, 20));
  t.pass("whoever holds members is told by which certificate it knows the node");
  await older.close();
  await t.rejects(older.connect(), /authorization/i, "the one before is void");
  const row = fixture.core.read.prepare("SELECT * FROM nodes WHERE id = 'node-a'").get();
  t.match(row, {
    ...{ certificate_sha256: newer.certificateSha256, next_certificate_sha256: null },
    ...{ is_cordoned: 1, cordon_reason: "a visitor" },
  });
  await fixture.auditd.stop();
  const leaves = await readLeaves(fixture.auditd.logDir);
  t.match(
    leaves.filter(({ type }) => type === "iam.node.renew"),
    [
      { actor: { sub: "node-a", kind: "node" }, detail: { late: false } },
      { detail: { certificate_sha256: newer.certificateSha256, late: false } },
    ],
  );
});

t.test(
  "a certificate that has ended admits its node, by its key, to the next one for a while",
  async (t) => {
    const fixture = await CoreFixture.start();
    t.teardown(() => fixture.close());
    const { joinTokens, commit } = fixture.core;
    await (await fixture.agent("node-a", 2)).close();

    const ended = async (agoMs: number) => {
      const own = await endedCertificate(fixture.ca, "node-a", agoMs);
      await commit.run((db) =>
        db
          .prepare("UPDATE nodes SET certificate_sha256 = ? WHERE id = 'node-a'")
          .run(certificateSha256(own.der)),
      );
      return own;
    };
    const late = async (own: { der: Buffer; keyPem: string }, csr: string, signed = csr) =>
      await joinTokens.join({ csr, token: tokenOf(own, signed) }, "127.0.0.1");
    const { csrPem, keyPem } = await makeSigningRequest("node-a");
    const own = await ended(DAY_MS);
    const another = await endedCertificate(fixture.ca, "node-a", DAY_MS);
    const refused = { code: "join_token_invalid" };
    await t.rejects(late(another, csrPem), refused, "not the one that the node is known by");
    await t.rejects(late({ ...own, keyPem }, csrPem), refused, "not signed by its key");
    const foreign = await makeSigningRequest("node-a");
    await t.rejects(late(own, foreign.csrPem, csrPem), refused, "signed for another request");
    await t.rejects(late(await ended(RENEWAL_GRACE_MS + 1_000), csrPem), refused, "too long ago");

    const again = await ended(DAY_MS);
    const reply = await late(again, csrPem);
    t.equal(reply.node, "node-a");
    const agent = await ScriptedAgent.join(
      ...(["node-a", ""] as const),
      { join: async ({ csr }) => await late(again, csr) },
      fixture.nats.url,
    );
    await agent.register(2);
    await agent.close();
    await t.rejects(late(again, csrPem), refused, "the node came with the next one");

    const last = await ended(DAY_MS);
    await commit.run(() => fixture.core.removal.remove("node-a"));
    await t.rejects(late(last, csrPem), refused, "a node that was removed stays out");
  },
);

function tokenOf({ der, keyPem }: { der: Buffer; keyPem: string }, csr: string): string {
  const key = { key: keyPem, dsaEncoding: "ieee-p1363" } as const;
  return formatRenewalToken(der, sign("sha256", renewalBytes(hash("sha256", csr)), key));
}

/** As the coordinator signed it 397 days before its end. */
async function endedCertificate(
  ca: CoreFixture["ca"],
  node: string,
  agoMs: number,
): Promise<{ der: Buffer; keyPem: string }> {
  const issuer = new x509.X509Certificate(readFileSync(ca.intermediateCertFile, "utf8"));
  const pkcs8 = x509.PemConverter.decodeFirst(readFileSync(ca.intermediateKeyFile, "utf8"));
  const keys = await crypto.subtle.generateKey(P256, true, ["sign", "verify"]);
  const end = Date.now() - agoMs;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: `CN=${node}`,
    issuer: issuer.subjectName,
    notBefore: new Date(end - 397 * DAY_MS),
    notAfter: new Date(end),
    publicKey: keys.publicKey,
    signingKey: await crypto.subtle.importKey("pkcs8", pkcs8, P256, false, ["sign"]),
    signingAlgorithm: P256,
    extensions: [new x509.BasicConstraintsExtension(false, undefined, true)],
  });
  const own = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return {
    der: Buffer.from(certificate.rawData),
    keyPem: x509.PemConverter.encode(own, "PRIVATE KEY"),
  };
}
