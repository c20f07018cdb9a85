import { execFileSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import t from "tap";
import { type Brought, evaluateCertificate } from "../../src/ca/decisions/evaluate-certificate.ts";
import { CustomersPki } from "@resontech/house/customers-pki";

const dir = t.testdir();
const pki = new CustomersPki(join(dir, "pki"));
const DAY_MS = 86_400_000;
const judge = (brought: Partial<Brought>, now = Date.now()) =>
  evaluateCertificate({ ...whole(pki.leaf()), ...brought }, "gpu.hospital.example", now);
const whole = ({ cert, key }: { cert: string; key: string }): Brought => ({
  ...{ cert: cert + pki.intermediate, key, ca: pki.ca },
});

t.test(
  "what openssl verifies is taken, in any order, with the chain in the order of a door",
  async (t) => {
    const { cert, key } = pki.leaf();
    const judged = judge({ cert: `words\n${cert}\n${pki.ca}${pki.intermediate}`, key });
    t.equal(judged.chain, cert + pki.intermediate, "without the root");
    t.equal(judged.ca, pki.ca);
    t.equal(
      judged.certSha256,
      new X509Certificate(cert).fingerprint256.replaceAll(":", "").toLowerCase(),
    );
    t.ok(judged.endsAt - Date.now() < 91 * DAY_MS, "the first that ends");
    writeFileSync(join(dir, "chain.pem"), judged.chain);
    writeFileSync(join(dir, "ca.pem"), judged.ca);
    const verified = execFileSync(
      "openssl",
      [
        "verify",
        "-CAfile",
        join(dir, "ca.pem"),
        "-untrusted",
        join(dir, "chain.pem"),
        "-verify_hostname",
        "gpu.hospital.example",
        join(dir, "chain.pem"),
      ],
      { encoding: "utf8" },
    );
    t.match(verified, /OK/);
  },
);

t.test("usual kinds of certificates are taken", async (t) => {
  const rsa = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"];
  const p384 = ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"];
  t.ok(judge(whole(pki.leaf({ key: rsa }))));
  t.ok(judge(whole(pki.leaf({ key: p384, names: "DNS:*.hospital.example" }))), "a wildcard");
  t.ok(judge(whole(pki.leaf({ usage: "" }))), "good for everything");
  const straight = pki.leaf({ by: "root" });
  t.equal(judge({ cert: straight.cert, key: straight.key }).chain, straight.cert);
  const under = pki.leaf();
  t.ok(judge({ ...under, ca: pki.intermediate }), "an intermediate may be whom clients trust");
});

t.test("each fault has its code, and says what to do", async (t) => {
  const other = new CustomersPki(join(dir, "other"));
  const sealed = execFileSync(
    "openssl",
    ["pkey", "-in", pki.file("root.key"), "-aes256", "-passout", "pass:x"],
    { encoding: "utf8" },
  );
  const faults: [string, Partial<Brought>, number?][] = [
    ["cert_unreadable", { cert: "none" }],
    ["cert_unreadable", { cert: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" }],
    ["ca_unreadable", { ca: "" }],
    ["key_unreadable", { key: "none" }],
    ["key_encrypted", { key: sealed }],
    ["key_kind", whole(pki.leaf({ key: ["-algorithm", "ED25519"] }))],
    [
      "key_kind",
      whole(pki.leaf({ key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024"] })),
    ],
    [
      "key_kind",
      whole(pki.leaf({ key: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"] })),
    ],
    ["key_mismatch", { key: pki.leaf().key }],
    ["cert_is_ca", whole(pki.leaf({ isCa: true }))],
    ["cert_not_for_servers", whole(pki.leaf({ usage: "clientAuth" }))],
    ["name_missing", whole(pki.leaf({ names: "DNS:other.example" }))],
    ["name_missing", whole(pki.leaf({ names: "" }))],
    ["chain_broken", { ca: other.ca }],
    ["chain_broken", pki.leaf()],
    ["cert_expired", {}, Date.now() + 100 * DAY_MS],
    ["cert_not_yet_valid", {}, Date.now() - 100 * DAY_MS],
  ];
  for (const [code, brought, now] of faults)
    t.throws(() => judge(brought, now), { code, hint: /./ }, code);
  const wrong = pki.leaf();
  t.throws(
    () => judge({ cert: pki.intermediate + wrong.cert, key: wrong.key }),
    { code: "key_mismatch" },
    "the certificate is the first",
  );
  const forged = other.leaf();
  t.throws(
    () => judge({ cert: forged.cert + pki.intermediate, key: forged.key }),
    { code: "chain_broken" },
    "a name alone vouches for nothing",
  );
});
