import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  allowOutboundHost,
  forbidOutboundHost,
  type HostsPlace,
  readOutboundHosts,
} from "../../src/outbound/outbound-hosts-file.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const data = { host: "data.example.org", port: 443 };
const hooks = { host: "hooks.example.org", port: 8443, networks: ["10.2.0.0/16"] };

function placeOf(t: Test): HostsPlace {
  return { file: join(t.testdir(), "outbound.json"), gid: 64_108 };
}

t.test("hosts come, change and go, each by name and port", asRoot, async (t) => {
  const place = placeOf(t);
  t.same(readOutboundHosts(place.file), []);
  allowOutboundHost(place, data);
  allowOutboundHost(place, hooks);
  allowOutboundHost(place, { ...data, port: 8443 });
  t.same(readOutboundHosts(place.file), [data, hooks, { ...data, port: 8443 }]);
  allowOutboundHost(place, { ...data, ca: "PEM" });
  t.same(readOutboundHosts(place.file), [hooks, { ...data, port: 8443 }, { ...data, ca: "PEM" }]);
  t.ok(forbidOutboundHost(place, data));
  t.notOk(forbidOutboundHost(place, data), "it was not there any more");
  t.same(readOutboundHosts(place.file), [hooks, { ...data, port: 8443 }]);
  const { mode, uid, gid } = statSync(place.file);
  t.same([mode & 0o777, uid, gid], [0o440, 0, 64_108]);
});

t.test("what is no list is neither written nor read", asRoot, async (t) => {
  const place = placeOf(t);
  for (const wrong of [
    { ...data, host: "*.example.org" },
    { ...data, port: 0 },
    { ...data, networks: [] },
  ])
    t.throws(() => allowOutboundHost(place, wrong), { code: "config_invalid" });
  t.notOk(existsSync(place.file));
  writeFileSync(place.file, "{");
  t.throws(() => readOutboundHosts(place.file), { code: "config_invalid" });
  t.throws(() => forbidOutboundHost(place, data), { code: "config_invalid" });
  t.equal(readFileSync(place.file, "utf8"), "{", "it is left as it is");
});
