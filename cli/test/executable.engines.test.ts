/** `resontech` as one executable: where there is nothing but a C and a C++ library, and as the appliance gives it out. */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t from "tap";
import { readLock } from "@resontech/airgap/lock-file";
import { cliExecutable } from "@resontech/airgap/testing/cli-executable";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";

t.setTimeout(600_000);
const folder = cliExecutable();
const dir = mkdtempSync(join(tmpdir(), "rt-one-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const running = await RunningCoordinator.create({ downloadsDir: folder });
t.teardown(() => running[Symbol.asyncDispose]());
const user = await running.control("add-user", { username: "ada" });

/** Less than any Debian: the executable, what the loader says it needs, and one line of /etc/hosts. */
const root = join(dir, "root");
const libraries = execFileSync("ldd", [join(folder, "resontech")], { encoding: "utf8" })
  .split("\n")
  .flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);
for (const file of libraries) {
  mkdirSync(join(root, dirname(file)), { recursive: true });
  copyFileSync(file, join(root, file));
}
mkdirSync(join(root, "etc"));
writeFileSync(join(root, "etc", "hosts"), "127.0.0.1 localhost\n");
writeFileSync(join(root, "ca.crt"), running.caPem);
copyFileSync(join(folder, "resontech"), join(root, "resontech"));

function inside(env: Readonly<Record<string, string>>, ...words: string[]) {
  const { status, signal, stdout, stderr } = spawnSync(
    "/usr/sbin/chroot",
    [root, "/resontech", ...words],
    {
      ...{ env: { ...env }, encoding: "utf8", timeout: 60_000 },
    },
  );
  return { code: status, signal, out: stdout, said: stderr };
}

t.test("it needs no library but C's and C++'s own", async (t) => {
  const names = libraries.map((file) => file.slice(file.lastIndexOf("/") + 1)).sort();
  t.same(names, [
    ...["ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6"],
    ...["libpthread.so.0", "libstdc++.so.6"],
  ]);
  const versions = execFileSync("readelf", ["--version-info", join(folder, "resontech")], {
    encoding: "utf8",
  });
  t.match(versions, /GLIBC_2\.28/, "tools can read what it wants of the host");
});

t.test("in an empty environment it says what it is, and asks the appliance", async (t) => {
  t.match(inside({}, "--version"), { code: 0, out: `${readLock(false).version}\n`, said: "" });
  t.match(inside({}, "jobs", "--help"), { code: 0, out: /jobs: list, show.*\n[^]*Exit codes:/ });
  t.match(inside({}, "jobs", "ls"), { code: 1, said: /^home_missing: / });
  t.match(inside({ HOME: "/" }, "jobs", "ls"), { code: 1, said: /^not_configured: / });
  t.match(inside({}, "no-such"), { code: 2 });
  const env = {
    ...{ RESON_API_KEY: user.platformKey, RESON_BASE_URL: running.url },
    ...{ SSL_CERT_FILE: "/ca.crt", HOME: "/" },
  };
  t.match(inside(env, "jobs", "ls"), { code: 0, signal: null, out: "", said: /no job matches/ });
  t.match(inside(env, "whoami"), { code: 0, out: /^user +ada/ });
  writeFileSync(join(root, "one.txt"), "one");
  t.match(inside(env, "storage", "put", "/one.txt", "data/one.txt"), { code: 0, said: /3 bytes/ });
  t.match(inside(env, "storage", "get", "data/one.txt", "/two.txt"), { code: 0 });
  t.equal(readFileSync(join(root, "two.txt"), "utf8"), "one");
  // The options of somebody's own Node are no business of it.
  t.match(inside({ NODE_OPTIONS: "--require /no-such" }, "--version"), { code: 0 });
});

t.test("the answer to the one call into libatomic holds under threads", async (t) => {
  // The table that asks for it is WebAssembly's: functions are compiled, called through it and dropped.
  const program = `
    const bytes = new Uint8Array([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);
    let sum = 0;
    for (let i = 0; i < 20000; i++) {
      const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
      sum = exports.add(sum, 1);
    }
    require("node:worker_threads").parentPort.postMessage(sum);`;
  const main = `
    const { Worker } = require("node:worker_threads");
    for (let i = 0; i < 4; i++) new Worker(${JSON.stringify(program)}, { eval: true }).on("message", (sum) => console.log(sum));`;
  const node = join(dir, "node");
  copyFileSync(process.execPath, node);
  const recipes = join(import.meta.dirname, "..", "..", "airgap", "recipes", "node");
  execFileSync("python3", [join(recipes, "stand-alone.py"), node]);
  const ended = spawnSync(node, ["-e", main], { env: {}, encoding: "utf8", timeout: 120_000 });
  t.match(ended, { status: 0, signal: null, stdout: "20000\n".repeat(4) });
  const again = spawnSync("python3", [join(recipes, "stand-alone.py"), node], { encoding: "utf8" });
  t.match(again, { status: 1, stderr: /wants no version of libatomic/ }, "never twice");
});

t.test("the same inputs make the same bytes", async (t) => {
  const other = cliExecutable(join(dir, "cache"));
  t.not(other, folder);
  for (const name of ["resontech", "resontech.sha256"])
    t.ok(readFileSync(join(other, name)).equals(readFileSync(join(folder, name))), name);
});

t.test(
  "the appliance gives it out with its digest, to whoever asks, and nothing else",
  async (t) => {
    const into = join(dir, "download");
    mkdirSync(into);
    writeFileSync(join(into, "root.crt"), running.caPem);
    const fetched = (name: string, ...more: string[]) =>
      spawnSync(
        "curl",
        [
          ...["--silent", "--fail", "--cacert", "root.crt", "--path-as-is", ...more],
          ...["--remote-name", `${running.url}/dashboard/downloads/${name}`],
        ],
        { cwd: into, encoding: "utf8" },
      );
    t.equal(fetched("resontech").status, 0);
    t.equal(fetched("resontech.sha256").status, 0);
    t.equal(
      execFileSync("sha256sum", ["-c", "resontech.sha256"], { cwd: into }).toString(),
      "resontech: OK\n",
    );
    for (const name of ["resontech.mjs", "..%2fresontech", "%2e%2e/coordinator.mjs"])
      t.equal(fetched(name).status, 22, `${name} is refused`);
  },
);
