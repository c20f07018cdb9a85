import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { makeSmallBundle } from "./trust/small-bundle.ts";

function airgap(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [join(import.meta.dirname, "..", "src", "main.ts"), ...args], {
    encoding: "utf8",
  });
}

t.test("wrong usage ends with 2 and says what is wrong", async (t) => {
  for (const [args, message] of [
    [["build"], /--out/],
    [["build", "--out", "x", "--release"], /--release needs --signing-key/],
    [["build", "--out", "x", "--release", "--refresh-overlay"], /cannot be used with/],
    [["pack"], /unknown command/],
  ] as const) {
    const { status, stderr } = airgap(...args);
    t.equal(status, 2, args.join(" "));
    t.match(stderr, message);
  }
  t.equal(airgap("build", "--help").status, 0);
});

t.test(
  "verify ends with 0 for what was signed and with 4 for what was not, naming the file",
  async (t) => {
    const { bundle, key, release } = await makeSmallBundle(t.testdir());
    const publicKey = join(t.testdirName, "public.pem");
    writeFileSync(publicKey, key.publicPem);
    const good = airgap("verify", bundle, "--key", publicKey);
    t.equal(good.status, 0, good.stderr);
    t.match(good.stdout, `${release.version}: ${release.blobs.length} blobs`);
    const blob = `blobs/sha256/${release.blobs[0]?.sha256}`;
    const bytes = readFileSync(join(bundle, blob));
    bytes[0] = (bytes[0] ?? 0) ^ 128;
    writeFileSync(join(bundle, blob), bytes);
    const bad = airgap("verify", bundle, "--key", publicKey);
    t.equal(bad.status, 4);
    t.match(bad.stderr, `airgap: bundle_refused: ${blob}: its SHA-256 is`);
  },
);
