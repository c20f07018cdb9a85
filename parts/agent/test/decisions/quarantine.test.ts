import t from "tap";
import type { KernelEvent } from "../../src/decisions/kernel-faults.ts";
import {
  afterKernelEvent,
  afterLook,
  afterUndrain,
  LOST,
  type Quarantine,
  quarantineAtStart,
  type SeenDevice,
} from "../../src/decisions/quarantine.ts";

const seen = (device: string, bus = "0000:3b:00"): SeenDevice => ({
  ...{ model: "t4", memoryBytes: 1, vendor: "nvidia" },
  ...{ device, bus },
});
const [one, two] = [seen("GPU-1"), seen("GPU-2", "0000:3c:00")];
const none: ReadonlySet<string> = new Set();
const fault = (sequence: number, bus = "0000:3b:00"): KernelEvent => ({
  ...{ kind: "fault", vendor: "nvidia", sequence, bus },
  reason: "Xid 79: it has fallen off the bus",
});
const start = (): Quarantine => afterLook(quarantineAtStart(null, "boot-1"), [one, two], none);
const devices = ({ entries }: Quarantine) => entries.map(({ device }) => device);

t.test("a fault keeps its own device from work, and all parts of it", (t) => {
  t.strictSame(devices(afterKernelEvent(start(), fault(5))), ["GPU-1"]);
  const parts = afterLook(start(), [one, seen("MIG-1"), seen("MIG-2"), two], none);
  t.strictSame(devices(afterKernelEvent(parts, fault(5))).toSorted(), ["GPU-1", "MIG-1", "MIG-2"]);
  t.strictSame(devices(afterKernelEvent(start(), fault(5, "0000:ff:00"))), []);
  t.end();
});

t.test("the first reason stays, and a record counts once", (t) => {
  const first = afterKernelEvent(start(), fault(5));
  const second = afterKernelEvent(first, { ...fault(6), reason: "Xid 45" } as KernelEvent);
  t.match(second.entries, [{ reason: "Xid 79: it has fallen off the bus" }]);
  const lifted = { ...second, entries: [] };
  t.equal(afterKernelEvent(lifted, fault(6)), lifted, "heard again after a restart of the agent");
  t.end();
});

t.test("a good look alone is no proof; a reset, a restart and an operator's word are", (t) => {
  const state = { ...afterKernelEvent(start(), fault(5)), undrains: 3 };
  t.strictSame(devices(afterLook(state, [one, two], none)), ["GPU-1"]);
  t.strictSame(devices(quarantineAtStart(state, "boot-1")), ["GPU-1"], "of the agent alone");
  const reset: KernelEvent = { kind: "reset", vendor: "nvidia", sequence: 6, bus: "0000:3b:00" };
  t.strictSame(devices(afterKernelEvent(state, reset)), []);
  t.strictSame(devices(afterKernelEvent(state, { ...reset, vendor: "amd" })), ["GPU-1"]);
  const restarted = quarantineAtStart(state, "boot-2");
  t.strictSame(devices(restarted), []);
  t.equal(restarted.undrains, 3);
  t.equal(
    afterKernelEvent(afterLook(restarted, [one], none), fault(1)).entries.length,
    1,
    "records count from the start anew",
  );
  t.strictSame(devices(afterUndrain(state, 3, new Set(["GPU-1"]))), ["GPU-1"], "heard before");
  t.strictSame(devices(afterUndrain(state, 4, new Set(["GPU-1"]))), []);
  t.end();
});

t.test("an undrain from before the agent ever beat says nothing of now", (t) => {
  const state = afterKernelEvent(start(), fault(5));
  const heard = afterUndrain(state, 7, none);
  t.strictSame(devices(heard), ["GPU-1"]);
  t.strictSame(devices(afterUndrain(heard, 8, none)), []);
  t.end();
});

t.test("a device that its tool lists no more is lost, and stays known", (t) => {
  const gone = afterLook(start(), [two], none);
  t.match(gone.entries, [{ device: "GPU-1", reason: LOST }]);
  t.match(gone.seen, [two, one]);
  t.strictSame(devices(afterLook(gone, [two], none)), ["GPU-1"]);
  t.strictSame(devices(afterLook(gone, [one, two], none)), ["GPU-1"], "it came back, unproven");
  t.strictSame(devices(afterLook(start(), [], new Set(["nvidia"]))), [], "its tool did not answer");
  const forgotten = afterUndrain({ ...gone, undrains: 1 }, 2, new Set(["GPU-2"]));
  t.match(forgotten, { entries: [], seen: [two] });
  t.equal(forgotten.seen.length, 1);
  t.end();
});

t.test("a part that its operator took away is not lost", (t) => {
  const parts = afterLook(quarantineAtStart(null, "boot-1"), [seen("MIG-1")], none);
  t.match(afterLook(parts, [], none), { seen: [], entries: [] });
  t.end();
});
