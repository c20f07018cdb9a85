/** What the kernel's log says of accelerators. Pure. */
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

type Vendor = NonNullable<InventoryWorker["vendor"]>;

/** `bus`: `0000:3b:00`, the address without its function. */
export type KernelEvent =
  | { kind: "fault"; sequence: number; vendor: Vendor; bus: string; reason: string }
  /** The driver has reset the device and found it well. */
  | { kind: "reset"; sequence: number; vendor: Vendor; bus: string };

/**
 * What NVIDIA's catalogue answers with RESTART_APP or IGNORE, as its immediate action: most are faults of the user's program, after which the
 * device goes on. Of the catalogue "for Ampere and newer GPUs", whose last code is 172, as it stood in November 2026:
 * https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html. 63 notes a row of memory that is replaced at the next reset, 92 many errors
 * that were corrected, 94 an error that ended the one program whose memory it was. Beside them: 45, the end of a program, which the catalogue leaves to
 * the Xid before it; 162 to 165, for whose news of power smoothing it names no action.
 */
export const PASSED_OVER_XIDS: ReadonlySet<number> = new Set([
  // Faults of a program, of the engines that it used, of the memory that was its own.
  ...[8, 11, 13, 25, 31, 32, 39, 40, 41, 60, 68, 69, 70, 71, 72, 75, 76, 77, 80],
  ...[82, 83, 84, 85, 86, 88, 89, 94, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105],
  ...[126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 139],
  // Notes.
  ...[
    14, 37, 38, 43, 44, 63, 66, 67, 92, 93, 106, 107, 108, 121, 137, 141, 152, 153, 157, 160, 161,
  ],
  ...[45, 162, 163, 164, 165],
]);

/** Driver and device agree on what must be done; the newest drivers say it at each change. */
const RECOVERY_ACTION = 154;

const XID_MEANINGS: ReadonlyMap<number, string> = new Map([
  [46, "it stopped processing"],
  [48, "a memory error of two bits, which can't be corrected"],
  [61, "the device's own controller stopped"],
  [62, "the device's own controller halted"],
  [64, "a broken row of its memory could not be replaced"],
  [74, "its NVLink failed"],
  [79, "it has fallen off the bus"],
  [95, "a memory error that was not contained"],
  // RESET_GPU in the catalogue, though a program may have caused it.
  [109, "it did not change from one program to the next in time"],
  [119, "its system processor does not answer"],
  [120, "its system processor failed"],
  [140, "memory errors that can't be corrected"],
  [143, "its driver could not start it"],
  [158, "it did not answer in time"],
]);

/** `priority,sequence,microseconds,flags;text`: a record as /dev/kmsg gives it. https://www.kernel.org/doc/Documentation/ABI/testing/dev-kmsg */
const RECORD = /^(\d+),(\d+),\d+,[^;]*;(.*)/;
const FACILITIES = 8;
const XID =
  /^NVRM: Xid \((?:PCI:)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2})(?:\.[0-7])?\): (\d{1,4}),? ?(.*)/i;
const AMD = /^amdgpu ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2})\.[0-7]: amdgpu: (.*)/i;

/** Reads a record; null for one that says nothing of an accelerator's health. What a program wrote into the log is none of the kernel's. */
export function kernelEvent(record: string): KernelEvent | null {
  const [, priority = "", sequence = "", text = ""] = RECORD.exec(record) ?? [];
  if (priority === "" || Number(priority) >= FACILITIES) return null;
  return xidOf(text, Number(sequence)) ?? amdOf(text, Number(sequence));
}

function xidOf(text: string, sequence: number): KernelEvent | null {
  const match = XID.exec(text);
  if (match === null) return null;
  const [, address = "", code = "", said = ""] = match;
  const at = { sequence, vendor: "nvidia", bus: busOf(address) } as const;
  const xid = Number(code);
  if (PASSED_OVER_XIDS.has(xid)) return null;
  if (xid === RECOVERY_ACTION) {
    const action = /to 0x[0-9a-f]+ \(([A-Za-z0-9 ]{1,40})\)/.exec(said)?.[1];
    if (action === "None") return { kind: "reset", ...at };
    return {
      kind: "fault",
      ...at,
      reason: `Xid 154: its driver asks for: ${action ?? "a recovery"}`,
    };
  }
  const meaning = XID_MEANINGS.get(xid) ?? "a fault of the device or its driver";
  return { kind: "fault", ...at, reason: `Xid ${xid}: ${meaning}` };
}

function amdOf(text: string, sequence: number): KernelEvent | null {
  const [, address = "", said = ""] = AMD.exec(text) ?? [];
  const at = { sequence, vendor: "amd", bus: busOf(address) } as const;
  if (/^GPU reset\(\d+\) succeeded!/.test(said)) return { kind: "reset", ...at };
  if (/^(GPU reset\(\d+\) failed|GPU Recovery Failed)/.test(said))
    return { kind: "fault", ...at, reason: "its driver could not reset it" };
  if (said.startsWith("device lost from bus"))
    return { kind: "fault", ...at, reason: "it has fallen off the bus" };
  return null;
}

function busOf(address: string): string {
  const [domain = "", ...rest] = address.toLowerCase().split(":");
  return [domain.slice(-4), ...rest].join(":");
}
