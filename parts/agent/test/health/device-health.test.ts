import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { DeviceHealth } from "../../src/health/device-health.ts";
import type { Accelerator } from "../../src/probes/accelerator-probe.ts";

const gpu = (device: string, pciAddress: string): Accelerator => ({
  ...{ model: "t4", memoryBytes: 1, vendor: "nvidia", healthy: true, device, pciAddress },
  ...{ memoryInUseBytes: 0, computeProcesses: 0, usage: {} },
});
const [a, b] = [gpu("GPU-a", "0000:3b:00.0"), gpu("GPU-b", "0000:3c:00.0")];
const none: ReadonlySet<string> = new Set();
const fallen = "3,9,1,-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";

t.test("a quarantine outlives the agent, and ends with the machine's restart", (t) => {
  const dir = t.testdir();
  const first = new DeviceHealth(dir, "boot-1");
  t.match(first.judge([a, b], none), [{ healthy: true }, { healthy: true }]);
  t.equal(first.hear("6,8,1,-;usb 1-1: new device"), false);
  t.equal(first.hear(fallen), true);
  t.equal(first.hear(fallen), false, "no news");
  const reason = "Xid 79: it has fallen off the bus";
  t.match(first.judge([a, b], none), [{ healthy: false, reason }, { healthy: true }]);
  const next = new DeviceHealth(dir, "boot-1");
  t.equal(next.hear(fallen), false);
  t.match(next.judge([a, b], none), [{ healthy: false, reason }, { healthy: true }]);
  t.match(new DeviceHealth(dir, "boot-2").judge([a, b], none), [{ healthy: true }, {}]);
  t.end();
});

t.test("a lost device is still a worker, with what was known of it", (t) => {
  const health = new DeviceHealth(t.testdir(), "boot-1");
  health.judge([a, b], none);
  t.match(health.judge([b], none), [
    { device: "GPU-b", healthy: true },
    { device: "GPU-a", model: "t4", healthy: false, reason: /^it is lost/ },
  ]);
  health.undrained(1);
  t.equal(health.undrained(2), true);
  t.equal(health.judge([b], none).length, 1, "the operator took it out");
  t.end();
});

t.test("a damaged file is told of, never taken for an empty one", (t) => {
  for (const text of ["{", "[]", '{"formatVersion":1}']) {
    const dir = t.testdir();
    writeFileSync(join(dir, "quarantine.json"), text);
    t.throws(() => new DeviceHealth(dir, "boot-1"), /quarantine\.json/, text);
  }
  t.end();
});
