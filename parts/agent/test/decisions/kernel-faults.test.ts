import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { kernelEvent, PASSED_OVER_XIDS } from "../../src/decisions/kernel-faults.ts";
import { KernelLog } from "../../src/health/kernel-log.ts";

const recorded = join(import.meta.dirname, "fixtures", "kernel-records.txt");
const record = (text: string, priority = 3) => `${priority},7,100,-;${text}`;

t.test("recorded lines of the kernel's log are told apart", (t) => {
  using log = new KernelLog(recorded);
  const events = log.read().map(kernelEvent);
  t.match(
    events.filter((event) => event !== null),
    [
      {
        kind: "fault",
        vendor: "nvidia",
        bus: "0000:2b:00",
        reason: "Xid 79: it has fallen off the bus",
      },
      { kind: "fault", bus: "0000:0a:00", reason: /^Xid 62: / },
      {
        kind: "fault",
        bus: "0000:66:00",
        reason: "Xid 154: its driver asks for: GPU Reset Required",
      },
      { kind: "reset", bus: "0000:66:00" },
      { kind: "reset", vendor: "amd", bus: "0000:41:00" },
      { kind: "fault", vendor: "amd", bus: "0000:41:00", reason: "it has fallen off the bus" },
    ],
  );
  t.equal(events.filter((event) => event !== null).length, 6);
  t.ok(readFileSync(recorded, "utf8").split("\n").length > 18, "others are passed over");
  t.strictSame(log.read(), [], "each is read once");
  t.end();
});

t.test("a fault of the user's program keeps no device from work", (t) => {
  for (const xid of PASSED_OVER_XIDS)
    t.equal(kernelEvent(record(`NVRM: Xid (PCI:0000:3b:00): ${xid}, pid=1, name=python`)), null);
  for (const xid of [11, 32, 44, 137, 139]) t.ok(PASSED_OVER_XIDS.has(xid), String(xid));
  // Each is answered with a reset, a restart, or a way of its own, or with nothing at all.
  const faults = [46, 48, 54, 62, 64, 74, 78, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143];
  for (const xid of [...faults, 144, 149, 151, 155, 156, 158, 159, 167, 169, 171, 172])
    t.match(kernelEvent(record(`NVRM: Xid (PCI:0000:3b:00): ${xid}, pid=1`)), { kind: "fault" });
  t.match(kernelEvent(record("NVRM: Xid (PCI:0000:3b:00): 999, new")), {
    reason: "Xid 999: a fault of the device or its driver",
  });
  t.match(kernelEvent(record("NVRM: Xid (0000:03:00): 48, Channel 00000001")), {
    bus: "0000:03:00",
  });
  t.end();
});

t.test("what a program wrote into the log is none of the kernel's", (t) => {
  const fault = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
  t.ok(kernelEvent(record(fault)));
  t.equal(kernelEvent(record(fault, 11)), null, "facility 1: a user's");
  t.equal(kernelEvent(record(`audit: ${fault}`)), null);
  t.equal(kernelEvent(fault), null, "no record");
  t.end();
});
