/** What join-node.sh does before it has Node: whatever is not what the command compares it with is refused, and nothing of it is run. */
import { spawnSync } from "node:child_process";
import { createHash, createPublicKey } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import t, { type Test } from "tap";
import { makeSmallRelease } from "../helper/small-release.ts";

const repository = join(import.meta.dirname, "..", "..", "..");
const verifier = await ensureEngine("verify");
const TOOLS = "sh cat wc sha256sum mktemp cp mv chmod id dirname mkdir rm uname".split(" ");
/** The installer was run, and lacks what the printed command tells it. */
const VERIFIED = 2;
const REFUSED = 3;
const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** The folder that `appliance node add --out` writes, of a release of a few kilobytes whose runtime says that it ran. */
function medium(t: Test) {
  const dir = t.testdir();
  const ran = join(dir, "ran");
  const node = `#!/bin/sh\necho ran >>${ran}\nexec ${process.execPath} --disable-warning=ExperimentalWarning "$@"\n`;
  const { bundle, keyFile } = makeSmallRelease(dir, { verifier, node });
  const pem = createPublicKey(readFileSync(keyFile)).export({ type: "spki", format: "pem" });
  writeFileSync(join(bundle, "release-key.pem"), pem);
  writeFileSync(join(bundle, "root.crt"), "a root certificate");
  const source = readFileSync(join(repository, "join-node.sh"), "utf8");
  writeFileSync(
    join(bundle, "join-node.sh"),
    source.replaceAll("@VERIFIER_SHA256@", sha256(verifier)),
  );
  const temporary = join(dir, "tmp");
  mkdirSync(temporary);
  const sums = [
    ...["--root-sha256", sha256(join(bundle, "root.crt"))],
    ...["--key-sha256", sha256(join(bundle, "release-key.pem"))],
    ...["--root", join(dir, "root")],
  ];
  return {
    ...{ bundle, sums },
    hasRun: () => existsSync(ran),
    left: () => readdirSync(temporary),
    run: (args: readonly string[] = sums, path = process.env["PATH"] ?? "") =>
      spawnSync("/bin/sh", [join(bundle, "join-node.sh"), ...args], {
        encoding: "utf8",
        env: { PATH: path, TMPDIR: temporary },
      }),
    blobOf: (path: string) => {
      const line = readFileSync(join(bundle, "boot.sums"), "utf8")
        .split("\n")
        .find((each) => each.endsWith(`  ${path}`));
      return join(bundle, "blobs", "sha256", line?.split(" ")[0] ?? "");
    },
  };
}

/** A PATH without openssl. */
function bareTools(t: Test): string {
  const folder = t.testdir();
  for (const tool of TOOLS) {
    const found = (process.env["PATH"] ?? "")
      .split(delimiter)
      .map((each) => join(each, tool))
      .find((file) => existsSync(file));
    symlinkSync(found ?? "", join(folder, tool));
  }
  return folder;
}

function flipLastBit(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

t.test(
  "what is as it should be is run, and nothing is left in the folder for temporary files",
  async (t) => {
    const { run, hasRun, left } = medium(t);
    const { status, stderr } = run();
    t.equal(status, VERIFIED, stderr);
    t.match(stderr, /required option '--appliance/);
    t.ok(hasRun());
    t.same(left(), []);
  },
);

t.test("on a host without openssl the release's own verifier checks the signature", async (t) => {
  const path = bareTools(t);
  t.test("of a good release", async (t) => {
    const { run, sums } = medium(t);
    t.equal(run(sums, path).status, VERIFIED);
  });
  t.test("of one whose signature is not right", async (t) => {
    const { run, sums, bundle, hasRun } = medium(t);
    flipLastBit(join(bundle, "boot.sums.sig"));
    t.match(run(sums, path), { status: REFUSED, stderr: /boot\.sums: its signature/ });
    t.notOk(hasRun());
  });
  t.test("and is itself known by its sum", async (t) => {
    const { run, sums, bundle, hasRun } = medium(t);
    flipLastBit(join(bundle, "blobs", "sha256", sha256(verifier)));
    t.match(run(sums, path), { status: REFUSED, stderr: /engines\/rt-verify: its SHA-256/ });
    t.notOk(hasRun());
  });
});

const FLIPPED = ["root.crt", "release-key.pem", "boot.sums", "boot.sums.sig", "release.json"];
for (const name of [...FLIPPED, "bin/node", "app/installer.mjs"])
  t.test(`a flipped bit in ${name} is found before anything is run`, async (t) => {
    const { bundle, run, hasRun, left, blobOf } = medium(t);
    flipLastBit(FLIPPED.includes(name) ? join(bundle, name) : blobOf(name));
    const { status, stderr } = run();
    t.equal(status, REFUSED, stderr);
    t.match(stderr, /refused: .*(SHA-256|signature)/s);
    t.notOk(hasRun());
    t.same(left(), []);
  });

t.test("another vendor's release, wholly in order, is refused by the key's sum", async (t) => {
  const { run, sums } = medium(t);
  const others = sums.map((each, at) => (sums[at - 1] === "--key-sha256" ? "0".repeat(64) : each));
  t.match(run(others), { status: REFUSED, stderr: /the key that signs releases/ });
});

t.test("without both fingerprints nothing is looked at", async (t) => {
  const { run, hasRun } = medium(t);
  for (const args of [[], ["--root-sha256", "0".repeat(64)], ["--key-sha256=x", "--root-sha256=y"]])
    t.match(run(args), { status: REFUSED, stderr: /no fingerprint/ });
  t.notOk(hasRun());
});

t.test("what a run that was killed left is removed by the next", async (t) => {
  const { run, bundle, left } = medium(t);
  const temporary = join(bundle, "..", "tmp");
  mkdirSync(join(temporary, "resontech-join.4194999.abcdef"));
  mkdirSync(join(temporary, `resontech-join.${process.pid}.abcdef`));
  mkdirSync(join(temporary, "resontech-join.others.abcdef"));
  run();
  t.same(
    left().sort(),
    [`resontech-join.${process.pid}.abcdef`, "resontech-join.others.abcdef"].sort(),
  );
});

t.test("the source tells where the command is printed", async (t) => {
  const { status, stderr } = spawnSync("/bin/sh", [join(repository, "join-node.sh")], {
    encoding: "utf8",
  });
  t.equal(status, 2);
  t.match(stderr, /appliance node add/);
});
