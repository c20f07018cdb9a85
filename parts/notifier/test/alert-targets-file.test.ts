import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { AlertTarget } from "@resontech/contracts/alert-targets";
import { type ApplianceConfig, UID_OFFSETS } from "@resontech/contracts/appliance-config";
import t from "tap";
import {
  forgetAlertTarget,
  readAlertTargets,
  writeAlertTarget,
} from "../../src/config/alert-targets.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };
const hook = (url = "https://hooks.example.org/a"): AlertTarget => ({
  kind: "webhook",
  name: "oncall",
  url,
});
const siem: AlertTarget = {
  kind: "syslog",
  name: "siem",
  host: "siem.example.org",
  port: 6514,
  transport: "tls",
};

t.test("a target and its secret come, change and go together", asRoot, async (t) => {
  const root = t.testdir();
  mkdirSync(`${root}/etc/secrets/notifier`, { recursive: true });
  const layout = new Layout(root, "test");
  const context = { layout, config: { uidBase: 64_100 } as ApplianceConfig } as PartContext;
  t.same(readAlertTargets(layout), []);
  writeAlertTarget(context, hook(), { secret: "the key", caPem: null });
  writeAlertTarget(context, siem, { secret: null, caPem: "PEM" });
  t.same(readAlertTargets(layout), [hook(), siem]);
  const secret = layout.secrets("notifier", "oncall.secret");
  const { mode, uid, gid } = statSync(secret);
  t.same([mode & 0o777, uid, gid], [0o440, 0, 64_100 + UID_OFFSETS.notifier]);
  t.notMatch(readFileSync(layout.alertTargetsFile, "utf8"), "the key");
  writeAlertTarget(context, hook("https://hooks.example.org/b"), { secret: null, caPem: null });
  t.same(readAlertTargets(layout), [siem, hook("https://hooks.example.org/b")]);
  t.equal(readFileSync(secret, "utf8"), "the key", "kept where none is given");
  t.ok(forgetAlertTarget(context, "oncall"));
  t.notOk(forgetAlertTarget(context, "oncall"));
  t.notOk(existsSync(secret));
  t.same(readAlertTargets(layout), [siem]);
});

t.test("what is no target is neither written nor read", asRoot, async (t) => {
  const root = t.testdir();
  mkdirSync(`${root}/etc/secrets/notifier`, { recursive: true });
  const layout = new Layout(root, "test");
  const context = { layout, config: { uidBase: 64_100 } as ApplianceConfig } as PartContext;
  for (const wrong of [
    hook("http://hooks.example.org"),
    hook("https://user:pass@hooks.example.org"),
    { ...hook(), name: "../x" },
    { ...siem, port: 0 },
    { ...siem, host: "a b" },
  ]) {
    t.throws(() => writeAlertTarget(context, wrong, { secret: "s", caPem: null }));
    t.notOk(existsSync(layout.alertTargetsFile));
  }
  writeFileSync(layout.alertTargetsFile, "{");
  t.throws(() => readAlertTargets(layout), /is no JSON/);
});
