import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import t from "tap";
import { ensureEngine } from "../../src/engines/ensure-engine.ts";
import { readLock } from "../../src/lock/lock-file.ts";

const lock = readLock(false);

t.test(
  "each engine is a static program of the pinned version, answered from the cache the second time",
  async (t) => {
    const nats = await ensureEngine("nats");
    t.match(
      execFileSync(nats, ["--version"], { encoding: "utf8" }),
      lock.go["nats"]?.version.slice(1),
    );
    const s3 = await ensureEngine("s3");
    t.match(execFileSync(s3, ["--help"], { encoding: "utf8" }), /versitygw/);
    const registry = await ensureEngine("registry");
    t.match(execFileSync(registry, ["--help"], { encoding: "utf8" }), /registry/);
    const prometheus = await ensureEngine("prometheus");
    // Upstream's 3.15.0 is the module's v0.315.0; `--version` tells what its own build scripts would have set.
    t.match(
      execFileSync(prometheus, ["--help"], { encoding: "utf8" }),
      /storage\.tsdb\.retention\.size/,
    );
    for (const program of [nats, s3, registry, prometheus]) {
      t.ok(statSync(program).mode & 0o111);
      t.notMatch(
        execFileSync("readelf", ["-lW", program], { encoding: "utf8" }),
        /INTERP/,
        "needs no loader of the host",
      );
    }
    const { ino, mtimeMs } = statSync(nats);
    t.equal(await ensureEngine("nats"), nats);
    t.match(statSync(nats), { ino, mtimeMs }, "it is not built again");
  },
);
