import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import { reader } from "@resontech/contracts/readable";
import { kernelEvent } from "../decisions/kernel-faults.ts";
import {
  afterKernelEvent,
  afterLook,
  afterUndrain,
  Quarantine,
  quarantineAtStart,
  type SeenDevice,
} from "../decisions/quarantine.ts";
import type { Accelerator } from "../probes/accelerator-probe.ts";

const readQuarantine = reader(Quarantine);

/** Which of the node's devices are in quarantine, and why. Durable: a new process knows. */
export class DeviceHealth {
  readonly #file: string;
  #state: Quarantine;
  #there: ReadonlySet<string> = new Set();

  /** @throws when the file is damaged: a quarantine would be forgotten */
  constructor(dataDir: string, bootId: string) {
    this.#file = join(dataDir, "quarantine.json");
    this.#state = quarantineAtStart(read(this.#file), bootId);
  }

  /** A record of the kernel's log; true when it changes what is in quarantine. */
  hear(record: string): boolean {
    const event = kernelEvent(record);
    return event !== null && this.#become(afterKernelEvent(this.#state, event));
  }

  /** How often an operator has said that the node is well, which lifts its quarantines; true when that is news. */
  undrained(times: number): boolean {
    const before = this.#state.undrains;
    this.#become(afterUndrain(this.#state, times, this.#there));
    return before !== null && before !== times;
  }

  /** The devices with what is known beside their tools' word, and those that are lost. */
  judge(found: readonly Accelerator[], silentVendors: ReadonlySet<string>): Accelerator[] {
    this.#there = new Set(found.map(({ device }) => device));
    this.#become(afterLook(this.#state, found.map(toSeen), silentVendors));
    const reasons = new Map(this.#state.entries.map(({ device, reason }) => [device, reason]));
    const judged = found.map((one) => {
      const reason = reasons.get(one.device);
      return reason === undefined ? one : { ...one, healthy: false, reason };
    });
    const lost = this.#state.seen.flatMap(({ bus: _bus, ...device }) => {
      const reason = reasons.get(device.device);
      if (this.#there.has(device.device) || reason === undefined) return [];
      const nothing = { memoryInUseBytes: 0, computeProcesses: 0, usage: {} };
      return [{ ...device, ...nothing, healthy: false, reason }];
    });
    return [...judged, ...lost.filter(({ vendor }) => !silentVendors.has(vendor))];
  }

  #become(next: Quarantine): boolean {
    const isNews = JSON.stringify(next) !== JSON.stringify(this.#state);
    const changes = JSON.stringify(next.entries) !== JSON.stringify(this.#state.entries);
    if (isNews) replaceFileNow(this.#file, JSON.stringify(next), 0o600);
    this.#state = next;
    return changes;
  }
}

function toSeen({ model, memoryBytes, device, vendor, pciAddress }: Accelerator): SeenDevice {
  const bus = pciAddress?.replace(/\.[0-7]$/, "") ?? null;
  return { model, memoryBytes, device, vendor, bus };
}

function read(file: string): Quarantine | null {
  if (!existsSync(file)) return null;
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`${file} can't be read`, { cause: error });
  }
  const quarantine = readQuarantine(value);
  if (quarantine === null) throw new Error(`${file} is no list of devices in quarantine`);
  return quarantine;
}
