import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { removeEngineTraces } from "../src/remove-engine-traces.ts";

const TRACES = {
  run: {
    containers: { networks: { "aardvark-dns": {}, "aardvark.lock": "", "ipam.db": "x" } },
    runc: {},
    netns: {},
  },
  var: { lib: { containers: { cache: { "blob-info-cache-v1.boltdb": "x" } } } },
};

t.test("nothing of the bundle's engine stays outside its folders", async (t) => {
  const base = t.testdir(TRACES);
  removeEngineTraces(base);
  for (const path of ["run/containers", "run/runc", "run/netns", "var/lib/containers"])
    t.notOk(existsSync(join(base, path)), path);
  t.ok(existsSync(join(base, "var", "lib")));
  removeEngineTraces(base);
});

t.test("what somebody else has there stays", async (t) => {
  const base = t.testdir({
    ...TRACES,
    run: { ...TRACES.run, netns: { vpn: "" }, runc: { other: {} } },
  });
  removeEngineTraces(base);
  t.ok(existsSync(join(base, "run/netns/vpn")));
  t.ok(existsSync(join(base, "run/runc/other")));
  t.notOk(existsSync(join(base, "run/containers")));
});

t.test("a host with a Podman of its own keeps everything", async (t) => {
  const base = t.testdir({ ...TRACES, usr: { bin: { podman: "" } } });
  chmodSync(join(base, "usr/bin/podman"), 0o755);
  removeEngineTraces(base);
  t.ok(existsSync(join(base, "run/containers/networks/ipam.db")));
  t.ok(existsSync(join(base, "var/lib/containers/cache/blob-info-cache-v1.boltdb")));
});
