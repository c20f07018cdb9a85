import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ApplianceConfig, UID_OFFSETS } from "@resontech/contracts/appliance-config";
import t, { type Test } from "tap";
import {
  allowOutboundHost,
  forbidOutboundHost,
  readOutboundHosts,
} from "../../src/config/outbound-hosts.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const data = { host: "data.example.org", port: 443 };
const hooks = { host: "hooks.example.org", port: 8443, networks: ["10.2.0.0/16"] };

function contextOf(t: Test): PartContext {
  const layout = new Layout(t.testdir(), "test");
  mkdirSync(join(layout.etc));
  return { layout, config: { uidBase: 64_100 } as ApplianceConfig } as PartContext;
}

t.test("hosts come, change and go, each by name and port", asRoot, async (t) => {
  const context = contextOf(t);
  const { layout } = context;
  t.same(readOutboundHosts(layout), []);
  allowOutboundHost(context, data);
  allowOutboundHost(context, hooks);
  allowOutboundHost(context, { ...data, port: 8443 });
  t.same(readOutboundHosts(layout), [data, hooks, { ...data, port: 8443 }]);
  allowOutboundHost(context, { ...data, ca: "PEM" });
  t.same(readOutboundHosts(layout), [hooks, { ...data, port: 8443 }, { ...data, ca: "PEM" }]);
  t.ok(forbidOutboundHost(context, data));
  t.notOk(forbidOutboundHost(context, data), "it was not there any more");
  t.same(readOutboundHosts(layout), [hooks, { ...data, port: 8443 }]);
  const { mode, uid, gid } = statSync(layout.outboundFile);
  t.same([mode & 0o777, uid, gid], [0o440, 0, 64_100 + UID_OFFSETS.serving]);
});

t.test("what is no list is neither written nor read", asRoot, async (t) => {
  const context = contextOf(t);
  const { layout } = context;
  for (const wrong of [
    { ...data, host: "*.example.org" },
    { ...data, port: 0 },
    { ...data, networks: [] },
  ])
    t.throws(() => allowOutboundHost(context, wrong), { code: "config_invalid" });
  t.notOk(existsSync(layout.outboundFile));
  writeFileSync(layout.outboundFile, "{");
  t.throws(() => readOutboundHosts(layout), { code: "config_invalid" });
  t.throws(() => forbidOutboundHost(context, data), { code: "config_invalid" });
  t.equal(readFileSync(layout.outboundFile, "utf8"), "{", "it is left as it is");
});
