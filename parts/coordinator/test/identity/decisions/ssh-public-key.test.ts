import { generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import t from "tap";
import { readSshPublicKey } from "../../../src/identity/decisions/ssh-public-key.ts";

/** Made by `ssh-keygen -t ed25519 -C anna@laptop`, fingerprint by `ssh-keygen -lf`. */
const ED25519 =
  "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIETzegn8Be8uQrVudD4JtAyD14cgENtXNH4wOoSaQ2ue anna@laptop";
const ED25519_PRINT = "SHA256:gVB5RiVK22QwSW28U5czRgS2cKpuGggNQ4OEZ1hNnJ8";

const field = (bytes: Uint8Array | string) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, Buffer.from(bytes)]);
};
const lineOf = (type: string, ...fields: (Uint8Array | string)[]) =>
  `${type} ${Buffer.concat([type, ...fields].map(field)).toString("base64")}`;
const mpint = (base64url: string) => {
  const bytes = Buffer.from(base64url, "base64url");
  return bytes[0]! >= 0x80 ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes;
};
function rsa(bits: number): string {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: bits });
  const { e = "", n = "" } = publicKey.export({ format: "jwk" });
  return lineOf("ssh-rsa", mpint(e), mpint(n));
}
function ecdsa(namedCurve: "P-256" | "P-384" | "P-521", type: string, name: string): string {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const point = [Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
  return lineOf(type, name, Buffer.concat(point));
}
const P256 = ecdsa("P-256", "ecdsa-sha2-nistp256", "nistp256");

t.test("a key is read as ssh-keygen shows it", async (t) => {
  t.match(readSshPublicKey(`${ED25519}\n`), {
    ...{ type: "ssh-ed25519", fingerprint: ED25519_PRINT, comment: "anna@laptop", line: ED25519 },
  });
  for (const line of [
    rsa(3072),
    P256,
    ecdsa("P-384", "ecdsa-sha2-nistp384", "nistp384"),
    ecdsa("P-521", "ecdsa-sha2-nistp521", "nistp521"),
  ])
    t.match(readSshPublicKey(line), { line, comment: "" });
});

t.test("weak, foreign and broken keys are none", async (t) => {
  const point = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 1)]);
  const refused = {
    "too short an RSA key": rsa(2048),
    "a DSA key": lineOf("ssh-dss", "p", "q", "g", "y"),
    "a key of a security token": lineOf("sk-ssh-ed25519@openssh.com", Buffer.alloc(32), "ssh:"),
    "a certificate": lineOf("ssh-ed25519-cert-v01@openssh.com", "x"),
    "options before it": `command="sh" ${ED25519}`,
    "a second line": `${ED25519}\n${ED25519}`,
    "another type outside than inside": P256.replace("nistp256", "nistp384"),
    "another curve inside": lineOf("ecdsa-sha2-nistp256", "nistp384", point),
    "a point beside the curve": lineOf("ecdsa-sha2-nistp256", "nistp256", point),
    "a short Ed25519 key": lineOf("ssh-ed25519", Buffer.alloc(31)),
    "something after it": lineOf("ssh-ed25519", Buffer.alloc(32, 3), "more"),
    "a cut key": ED25519.slice(0, 40),
    "a negative number": lineOf("ssh-rsa", Buffer.of(1, 0, 1), Buffer.alloc(400, 0xff)),
    "an even exponent": lineOf("ssh-rsa", Buffer.of(2), Buffer.alloc(400, 0x7f)),
    "a private key": "-----BEGIN OPENSSH PRIVATE KEY-----",
    "a comment that a terminal obeys": `${ED25519}\u001b[2J`,
  };
  for (const [what, line] of Object.entries(refused)) t.equal(readSshPublicKey(line), null, what);
});

t.test("nothing that somebody sends makes it fail, and what it takes it takes again", async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.uint8Array({ maxLength: 80 })), (noise) => {
      const text = typeof noise === "string" ? noise : lineOf("ssh-ed25519", noise);
      const key = readSshPublicKey(text);
      return key === null || readSshPublicKey(key.line)?.fingerprint === key.fingerprint;
    }),
  );
  t.pass();
});
