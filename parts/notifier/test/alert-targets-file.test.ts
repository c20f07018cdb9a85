import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  forgetAlertTarget,
  readAlertTargets,
  type TargetsPlace,
  writeAlertTarget,
} from "../src/alert-targets-file.ts";
import type { AlertTarget } from "../src/alert-targets.ts";

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

const placeIn = (root: string): TargetsPlace => ({
  ...{ file: join(root, "alerts.json"), secretsDir: join(root, "secrets"), gid: 64_107 },
});

t.test("a target and its secret come, change and go together", asRoot, async (t) => {
  const place = placeIn(t.testdir({ secrets: {} }));
  t.same(readAlertTargets(place.file), []);
  writeAlertTarget(place, hook(), { secret: "the key", caPem: null });
  writeAlertTarget(place, siem, { secret: null, caPem: "PEM" });
  t.same(readAlertTargets(place.file), [hook(), siem]);
  const secret = join(place.secretsDir, "oncall.secret");
  const { mode, uid, gid } = statSync(secret);
  t.same([mode & 0o777, uid, gid], [0o440, 0, place.gid]);
  t.notMatch(readFileSync(place.file, "utf8"), "the key");
  writeAlertTarget(place, hook("https://hooks.example.org/b"), { secret: null, caPem: null });
  t.same(readAlertTargets(place.file), [siem, hook("https://hooks.example.org/b")]);
  t.equal(readFileSync(secret, "utf8"), "the key", "kept where none is given");
  t.ok(forgetAlertTarget(place, "oncall"));
  t.notOk(forgetAlertTarget(place, "oncall"));
  t.notOk(existsSync(secret));
  t.same(readAlertTargets(place.file), [siem]);
});

t.test("what is no target is neither written nor read", asRoot, async (t) => {
  const place = placeIn(t.testdir({ secrets: {} }));
  for (const wrong of [
    hook("http://hooks.example.org"),
    hook("https://user:pass@hooks.example.org"),
    { ...hook(), name: "../x" },
    { ...siem, port: 0 },
    { ...siem, host: "a b" },
  ]) {
    t.throws(() => writeAlertTarget(place, wrong, { secret: "s", caPem: null }));
    t.notOk(existsSync(place.file));
  }
  writeFileSync(place.file, "{");
  t.throws(() => readAlertTargets(place.file), /is no JSON/);
});
