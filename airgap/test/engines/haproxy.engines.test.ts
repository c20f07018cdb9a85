import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { StepCache } from "../../src/cache/step-cache.ts";
import { DEFAULT_CACHE } from "../../src/engines/ensure-engine.ts";
import { buildHaproxy, ensureHaproxy } from "../../src/engines/haproxy.ts";
import { readLock } from "../../src/lock/lock-file.ts";

const lock = readLock(false);

t.test(
  "HAProxy is of the pinned version, and takes its libraries from beside itself",
  async (t) => {
    const dir = t.testdir({});
    for (const { path, file } of await buildHaproxy(new StepCache(DEFAULT_CACHE), lock)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      copyFileSync(file, join(dir, path));
    }
    const home = join(dir, "engines", "haproxy");
    const said = execFileSync(join(home, "haproxy"), ["-vv"], { encoding: "utf8", env: {} });
    t.match(said, `HAProxy version ${lock.pypi["haproxy"]?.[0]?.version}-`);
    t.match(said, /Running on OpenSSL version : OpenSSL 3\./);
    const loaded = execFileSync("ldd", [join(home, "haproxy")], { encoding: "utf8" });
    for (const library of ["libssl.so.3", "libcrypto.so.3", "libz.so.1", "libpcre.so.1"])
      t.match(loaded, `${library} => ${home}/lib/${library}`);
  },
);

t.test("a test finds it in the cache", async (t) => {
  const program = await ensureHaproxy();
  t.equal(await ensureHaproxy(), program);
  t.match(execFileSync(program, ["-v"], { encoding: "utf8" }), /HAProxy version/);
});
