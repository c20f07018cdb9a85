import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";

const owner = { uid: 0, gid: 0 };
const openssl = (...args: string[]): string => execFileSync("openssl", args, { encoding: "utf8" });

t.test("openssl verifies servers and the intermediate against the root, and keys are closed to others", async (t) => {
  const dir = t.testdir();
  const ca = new CertificateAuthority(join(dir, "ca"));
  await ca.ensureRoot("hospital");
  await ca.ensureServer(join(dir, "s3"), owner, "server", ["gpu.example", "10.0.0.1", "localhost"]);
  await ca.ensureIntermediate(join(dir, "coordinator"), owner);
  t.match(openssl("verify", "-CAfile", ca.rootCertFile, join(dir, "s3", "server.crt")), /OK/);
  t.match(openssl("verify", "-CAfile", ca.rootCertFile, join(dir, "coordinator", "intermediate.crt")), /OK/);
  const text = openssl("x509", "-in", join(dir, "s3", "server.crt"), "-noout", "-text");
  t.match(text, /DNS:gpu\.example, IP Address:10\.0\.0\.1, DNS:localhost/);
  t.match(text, /CA:FALSE/);
  t.equal(statSync(join(dir, "ca", "root.key")).mode & 0o777, 0o400);
  t.equal(statSync(join(dir, "s3", "server.key")).mode & 0o777, 0o400);
  t.equal(statSync(join(dir, "s3")).mode & 0o777, 0o700);
});

t.test(
  "a certificate stays until two thirds of its life are over, then it is renewed in place, even when it has expired",
  async (t) => {
    const dir = t.testdir();
    let now = new Date("2026-01-01T00:00:00Z");
    const ca = new CertificateAuthority(join(dir, "ca"), () => now);
    await ca.ensureRoot("hospital");
    const renew = async (): Promise<string> => {
      await ca.ensureServer(join(dir, "api"), owner, "server", ["localhost"]);
      return readFileSync(join(dir, "api", "server.crt"), "utf8");
    };
    const first = await renew();
    now = new Date("2026-08-01T00:00:00Z");
    t.equal(await renew(), first);
    now = new Date("2026-11-01T00:00:00Z");
    const second = await renew();
    t.not(second, first);
    now = new Date("2029-01-01T00:00:00Z");
    t.not(await renew(), second);
  },
);
