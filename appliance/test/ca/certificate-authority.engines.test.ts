import { execFileSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";

const owner = { uid: 0, gid: 64_111 };
const openssl = (...args: string[]): string => execFileSync("openssl", args, { encoding: "utf8" });

t.test(
  "openssl verifies servers and the intermediate against the root, and keys are closed to others",
  async (t) => {
    const dir = t.testdir();
    const ca = new CertificateAuthority(join(dir, "ca"));
    await ca.ensureRoot("hospital");
    await ca.ensureServer(join(dir, "s3"), owner, "server", [
      "gpu.example",
      "10.0.0.1",
      "localhost",
    ]);
    await ca.ensureIntermediate(join(dir, "coordinator"), owner);
    t.match(openssl("verify", "-CAfile", ca.rootCertFile, join(dir, "s3", "server.crt")), /OK/);
    t.match(
      openssl("verify", "-CAfile", ca.rootCertFile, join(dir, "coordinator", "intermediate.crt")),
      /OK/,
    );
    const text = openssl("x509", "-in", join(dir, "s3", "server.crt"), "-noout", "-text");
    t.match(text, /DNS:gpu\.example, IP Address:10\.0\.0\.1, DNS:localhost/);
    t.match(text, /CA:FALSE/);
    t.equal(statSync(join(dir, "ca", "root.key")).mode & 0o777, 0o400);
    t.equal(statSync(join(dir, "s3", "server.key")).mode & 0o777, 0o440);
    t.equal(statSync(join(dir, "s3", "server.key")).gid, 64_111);
    t.equal(statSync(join(dir, "s3")).mode & 0o777, 0o750);
  },
);

t.test("a certificate to call with is good for clients alone, and stays", async (t) => {
  const dir = t.testdir();
  const ca = new CertificateAuthority(join(dir, "ca"));
  await ca.ensureRoot("hospital");
  const file = join(dir, "coordinator", "client.crt");
  const ensure = async (): Promise<string> => {
    await ca.ensureClient(join(dir, "coordinator"), owner, "client");
    return readFileSync(file, "utf8");
  };
  const first = await ensure();
  t.equal(await ensure(), first);
  const verify = (purpose: string) =>
    openssl("verify", "-CAfile", ca.rootCertFile, "-purpose", purpose, file);
  t.match(verify("sslclient"), /OK/);
  t.throws(() => verify("sslserver"));
  t.notMatch(openssl("x509", "-in", file, "-noout", "-text"), /DNS:|IP Address:/);
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

t.test(
  "a certificate is issued anew when a name is missing, when its key is another's, and when the root has changed",
  async (t) => {
    const dir = t.testdir();
    const ca = new CertificateAuthority(join(dir, "ca"));
    await ca.ensureRoot("hospital");
    const [certFile, keyFile] = [join(dir, "api", "server.crt"), join(dir, "api", "server.key")];
    const ensure = async (names: string[]): Promise<string> => {
      await ca.ensureServer(join(dir, "api"), owner, "server", names);
      return readFileSync(certFile, "utf8");
    };
    const first = await ensure(["localhost"]);
    t.equal(await ensure(["localhost"]), first);
    const second = await ensure(["localhost", "gpu.example", "10.0.0.1"]);
    t.not(second, first);
    t.equal(await ensure(["gpu.example"]), second, "more names than are asked for are fine");

    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    rmSync(keyFile);
    writeFileSync(keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    const third = await ensure(["localhost"]);
    t.not(third, second, "a crash between key and certificate is mended");

    rmSync(join(dir, "ca"), { recursive: true });
    await ca.ensureRoot("hospital");
    t.not(await ensure(["localhost"]), third);
    t.match(openssl("verify", "-CAfile", ca.rootCertFile, certFile), /OK/);
  },
);

t.test(
  "openssl's own client accepts the server under its name and its address, and refuses it under another",
  async (t) => {
    const dir = t.testdir();
    const ca = new CertificateAuthority(join(dir, "ca"));
    await ca.ensureRoot("hospital");
    await ca.ensureServer(join(dir, "s3"), owner, "server", ["gpu.example", "127.0.0.1"]);
    const check = (...args: string[]): string =>
      execFileSync(
        "openssl",
        ["verify", "-CAfile", ca.rootCertFile, ...args, join(dir, "s3", "server.crt")],
        {
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        },
      );
    t.match(check("-verify_hostname", "gpu.example"), /OK/);
    t.match(check("-verify_ip", "127.0.0.1"), /OK/);
    t.throws(() => check("-verify_hostname", "evil.example"));
  },
);

t.test(
  "the intermediate is renewed with its own key, so that what it has signed stays good",
  async (t) => {
    const dir = t.testdir();
    let now = new Date(Date.now() - 1_300 * 86_400_000);
    const ca = new CertificateAuthority(join(dir, "ca"), () => now);
    const folder = join(dir, "coordinator");
    await ca.ensureRoot("hospital");
    await ca.ensureIntermediate(folder, owner);
    const [certFile, keyFile] = [
      join(folder, "intermediate.crt"),
      join(folder, "intermediate.key"),
    ];
    const first = readFileSync(certFile, "utf8");
    const node = ["-subj", "/CN=node-a", "-keyout", join(dir, "node.key")];
    openssl(
      "req",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      ...node,
      "-out",
      join(dir, "node.csr"),
    );
    openssl(
      "x509",
      "-req",
      "-in",
      join(dir, "node.csr"),
      "-CA",
      certFile,
      "-CAkey",
      keyFile,
      "-days",
      "397",
      "-out",
      join(dir, "node.crt"),
    );
    now = new Date();
    await ca.ensureIntermediate(folder, owner);
    t.not(readFileSync(certFile, "utf8"), first);
    t.match(
      openssl("verify", "-CAfile", ca.rootCertFile, "-untrusted", certFile, join(dir, "node.crt")),
      /OK/,
    );
    writeFileSync(
      keyFile,
      generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({
        type: "pkcs8",
        format: "pem",
      }),
    );
    await ca.ensureIntermediate(folder, owner);
    t.match(
      openssl("verify", "-CAfile", ca.rootCertFile, certFile),
      /OK/,
      "a key that is another's is given up",
    );
  },
);

t.test(
  "anew means anew, however young a certificate is, but for the authority itself",
  async (t) => {
    const dir = t.testdir();
    const ca = new CertificateAuthority(join(dir, "ca"));
    const anew = new CertificateAuthority(join(dir, "ca"), () => new Date(), true);
    const made = async (by: CertificateAuthority): Promise<string[]> => {
      await by.ensureRoot("hospital");
      await by.ensureIntermediate(join(dir, "c"), owner);
      await by.ensureServer(join(dir, "s"), owner, "server", ["localhost"]);
      return [
        ca.rootCertFile,
        join(dir, "c", "intermediate.crt"),
        join(dir, "s", "server.crt"),
        join(dir, "s", "server.key"),
      ].map((file) => readFileSync(file, "utf8"));
    };
    const [root, intermediate, cert, key] = await made(ca);
    const second = await made(anew);
    t.same(second.slice(0, 2), [root, intermediate]);
    t.not(second[2], cert);
    t.not(second[3], key);
  },
);
