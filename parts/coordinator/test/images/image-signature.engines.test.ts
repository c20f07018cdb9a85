/** Which signatures admit an image. */
import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { imageStatement } from "@resontech/contracts/own-image";
import t from "tap";
import { readImageKey, signerOf } from "../../src/images/decisions/image-signature.ts";

const DIGEST = `sha256:${createHash("sha256").update("image").digest("hex")}`;
const OTHER = `sha256:${createHash("sha256").update("other").digest("hex")}`;
const statement = Buffer.from(imageStatement(DIGEST));
const pem = { format: "pem", type: "spki" } as const;
const edwards = generateKeyPairSync("ed25519");
const curve = generateKeyPairSync("ec", { namedCurve: "P-256" });
const keys = [edwards, curve].map(({ publicKey }) => readImageKey(publicKey.export(pem)));
const [first, second] = keys as [(typeof keys)[number], (typeof keys)[number]];

t.test("a key of either kind that is trusted signs an image, and no other", async (t) => {
  const byEdwards = sign(null, statement, edwards.privateKey).toString("base64");
  const byCurve = sign("sha256", statement, curve.privateKey).toString("base64");
  t.equal(signerOf(DIGEST, byEdwards, keys).sha256, first.sha256);
  t.equal(signerOf(DIGEST, byCurve, keys).sha256, second.sha256);
  const refused = { code: "image_signature_invalid" };
  t.throws(() => signerOf(OTHER, byEdwards, keys), refused);
  t.throws(() => signerOf(DIGEST, byEdwards, [second]), refused);
  t.throws(() => signerOf(DIGEST, byCurve, []), { ...refused, message: /no key is trusted/ });
  t.throws(() => signerOf(DIGEST, "AAAA", keys), refused);
  const bare = sign(null, Buffer.from(DIGEST), edwards.privateKey).toString("base64");
  t.throws(() => signerOf(DIGEST, bare, keys), refused, "of the digest alone");
});

t.test("what openssl makes is taken as it is", async (t) => {
  const dir = t.testdir({});
  const [key, text, out] = ["key.pem", "statement", "signature"].map((name) => join(dir, name));
  execFileSync("openssl", ["genpkey", "-algorithm", "ed25519", "-out", key!]);
  writeFileSync(text!, statement);
  const signing = ["-sign", "-rawin", "-inkey", key!, "-in", text!, "-out", out!];
  execFileSync("openssl", ["pkeyutl", ...signing]);
  const signature = execFileSync("base64", ["--wrap=0", out!]).toString();
  const own = readImageKey(execFileSync("openssl", ["pkey", "-in", key!, "-pubout"]).toString());
  t.equal(signerOf(DIGEST, signature, [own]).sha256, own.sha256);
});

t.test("no key is taken that is private, weak, or none", async (t) => {
  const refused = { code: "image_key_invalid" };
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
  t.throws(() => readImageKey(rsa.publicKey.export(pem)), refused);
  t.throws(() => readImageKey(p384.publicKey.export(pem)), refused);
  t.throws(
    () => readImageKey(edwards.privateKey.export({ format: "pem", type: "pkcs8" })),
    refused,
  );
  t.throws(() => readImageKey("-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----"), refused);
});
