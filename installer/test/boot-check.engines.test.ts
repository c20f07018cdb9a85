/** What install.sh does before it has Node: on hosts with openssl 3, an older one or none, and where the runtime can't run. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import t, { type Test } from "tap";
import { makeSmallRelease } from "./helper/small-release.ts";

const verifier = await ensureEngine("verify");
const COREUTILS =
  "sha256sum base64 mktemp cp mv chmod id cat date dirname mkdir rm rmdir sync uname".split(" ");
const GOOD = 0;
const REFUSED = 3;

/** Runs `install.sh --help`: all that comes before the installer, and nothing of what comes after. */
function boot(
  bundle: string,
  path: string,
  env: NodeJS.ProcessEnv = {},
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync("/bin/sh", [join(bundle, "install.sh"), "--help"], {
    encoding: "utf8",
    env: { PATH: path, ...env },
  });
}

/** A PATH with the shell's tools and, when named, an openssl that says what it is and can do nothing. */
function hostTools(t: Test, openssl: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), "rt-tools-"));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const tool of COREUTILS) symlinkSync(programOf(tool), join(folder, tool));
  if (openssl !== null)
    writeFileSync(join(folder, "openssl"), `#!/bin/sh\n[ "$1" = version ] && echo '${openssl}'\n`, {
      mode: 0o755,
    });
  return folder;
}

function programOf(tool: string): string {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const found = spawnSync("test", ["-x", join(folder, tool)]).status === 0;
    if (found) return join(folder, tool);
  }
  throw new Error(`${tool} is not on this machine`);
}

function flipLastBit(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

const OTHERS: readonly (readonly [name: string, openssl: string | null])[] = [
  ["no openssl", null],
  ["OpenSSL 1.1.1", "OpenSSL 1.1.1w  11 Sep 2023"],
  ["LibreSSL", "LibreSSL 3.8.2"],
];

t.test("openssl 3 of the host checks the signature", async (t) => {
  const { bundle } = makeSmallRelease(t.testdir());
  const path = process.env["PATH"] ?? "";
  const good = boot(bundle, path);
  t.equal(good.status, GOOD, good.stderr);
  t.match(good.stderr, /signature is right, by the host's OpenSSL 3/);
  flipLastBit(join(bundle, "boot.sums.sig"));
  const { status, stderr } = boot(bundle, path);
  t.equal(status, REFUSED);
  t.match(stderr, /boot\.sums: its signature/);
});

for (const [name, openssl] of OTHERS) {
  t.test(`${name}: the release's own verifier checks the signature`, async (t) => {
    const path = hostTools(t, openssl);
    const { bundle } = makeSmallRelease(t.testdir(), { verifier });
    const { status, stderr } = boot(bundle, path);
    t.equal(status, GOOD, stderr);
    t.match(stderr, `by rt-verify of this bundle (this host has ${openssl ?? "no openssl"})`);
  });
}

for (const file of ["boot.sums.sig", "boot.sums"]) {
  t.test(`without openssl, a changed ${file} is refused`, async (t) => {
    const { bundle } = makeSmallRelease(t.testdir(), { verifier });
    flipLastBit(join(bundle, file));
    const { status, stderr } = boot(bundle, hostTools(t, null));
    t.equal(status, REFUSED);
    t.match(stderr, /boot\.sums: its signature in boot\.sums\.sig does not match/);
    t.match(stderr, "Nothing on this host was changed");
  });
}

t.test(
  "without openssl, a signature of another length or a key of another kind is no good signature",
  async (t) => {
    const { bundle } = makeSmallRelease(t.testdir(), { verifier });
    writeFileSync(join(bundle, "boot.sums.sig"), "");
    t.match(boot(bundle, hostTools(t, null)), { status: REFUSED, stderr: /its signature/ });
  },
);

t.test("a changed verifier is known by the sum in install.sh, and never runs", async (t) => {
  const dir = t.testdir();
  const { bundle } = makeSmallRelease(dir, { verifier });
  const sum =
    /^verifier_sum='([0-9a-f]{64})'$/m.exec(
      readFileSync(join(bundle, "install.sh"), "utf8"),
    )?.[1] ?? "";
  const ran = join(dir, "ran");
  writeFileSync(join(bundle, "blobs", "sha256", sum), `#!/bin/sh\n: >${ran}\n`);
  chmodSync(join(bundle, "blobs", "sha256", sum), 0o755);
  const { status, stderr } = boot(bundle, hostTools(t, null));
  t.equal(status, REFUSED);
  t.match(stderr, new RegExp(`blobs/sha256/${sum} \\(engines/rt-verify\\): its SHA-256 is`));
  t.notOk(existsSync(ran));
});

t.test("a release without a verifier says what its host must have", async (t) => {
  const { bundle } = makeSmallRelease(t.testdir());
  t.match(boot(bundle, hostTools(t, "OpenSSL 1.1.1w")), {
    status: REFUSED,
    stderr: /OpenSSL 1\.1\.1w, which can't check[^]*install openssl 3/,
  });
});

t.test(
  "the verifier runs from another folder where the one for temporary files is mounted noexec",
  async (t) => {
    const dir = t.testdir();
    const { bundle } = makeSmallRelease(dir, { verifier });
    const temporary = join(dir, "temporary");
    mkdirSync(temporary);
    const path = hostTools(t, null);
    const script =
      'mount -t tmpfs -o noexec none "$1" && PATH=$2 TMPDIR=$1 exec /bin/sh "$3/install.sh" --help';
    const done = spawnSync("unshare", ["-m", "sh", "-c", script, "boot", temporary, path, bundle], {
      encoding: "utf8",
    });
    t.equal(done.status, GOOD, done.stderr);
  },
);

const UNFIT: readonly (readonly [says: string, refusal: RegExp])[] = [
  [
    "node: error while loading shared libraries: libstdc++.so.6: cannot open shared object file: No such file or directory",
    /this host lacks libstdc\+\+\.so\.6[^]*install the package/,
  ],
  [
    "node: /lib/libc.so.6: version `GLIBC_2.28' not found (required by node)",
    /too old: the runtime needs GLIBC_2\.28/,
  ],
  [
    "node: /lib/libstdc++.so.6: version `GLIBCXX_3.4.21' not found (required by node)",
    /needs GLIBCXX_3\.4\.21/,
  ],
  ["node: no idea", /runs neither from this medium nor from [^]*: node: no idea/],
];
for (const [says, refusal] of UNFIT) {
  t.test(`a runtime that says “${says.slice(0, 60)}…” is refused for that`, async (t) => {
    const dir = t.testdir();
    const node = `#!/bin/sh\ncat >&2 <<'END'\n${says}\nEND\nexit 127\n`;
    const { bundle } = makeSmallRelease(dir, { node });
    const root = join(tmpdir(), `rt-boot-${process.pid}`);
    const done = spawnSync("sh", [join(bundle, "install.sh"), "--root", root], {
      encoding: "utf8",
    });
    t.equal(done.status, REFUSED, done.stderr);
    t.match(done.stderr, refusal);
    t.notOk(existsSync(root));
  });
}
