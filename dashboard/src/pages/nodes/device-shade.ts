/** How dark a device is drawn, by what the grid shows of it. Pure. */
import type { FleetDevicesReply } from "@resontech/contracts/http-nodes";

type NodeDevices = FleetDevicesReply["nodes"][number];

/** One device, taken out of the columns. */
export type FleetDevice = {
  worker: string;
  model: string;
  isHeld: boolean;
  unfit: string | null;
  usePercent: number | null;
  memoryPercent: number | null;
  temperatureC: number | null;
};

export const GRID_MEASURES = ["use", "memory", "temperature", "state"] as const;
export type GridMeasure = (typeof GRID_MEASURES)[number];

/** The least and the most in sight are the outer steps. Devices slow themselves down from 85 °C on (NVIDIA's "GPU Slowdown Temp" of data centre cards lies at 87 to 92 °C). */
const STEPS: Record<Exclude<GridMeasure, "state">, { unit: string; from: readonly number[] }> = {
  use: { unit: "%", from: [0, 20, 40, 60, 80] },
  memory: { unit: "%", from: [0, 20, 40, 60, 80] },
  temperature: { unit: " °C", from: [0, 40, 55, 70, 85] },
};

/** What a step of the legend means. `shade` is 0 to 4 from light to dark, or what has no place on the scale. */
export type Shade = 0 | 1 | 2 | 3 | 4 | "untold" | "out";
export type LegendStep = { shade: Shade; text: string };

const SCALE = [0, 1, 2, 3, 4] as const;
const OUT: LegendStep = { shade: "out", text: "takes no work" };

export function legendOf(measure: GridMeasure): LegendStep[] {
  if (measure === "state") return [{ shade: 0, text: "free" }, { shade: 4, text: "in use" }, OUT];
  const { unit, from } = STEPS[measure];
  const steps = SCALE.map((shade) => {
    const [low, next] = [from[shade]!, from[shade + 1]];
    const text = next === undefined ? `${low}${unit} and more` : `${low} to ${next - 1}${unit}`;
    return { shade, text };
  });
  return [...steps, { shade: "untold", text: "not told" }];
}

export function shadeOf(device: FleetDevice, measure: GridMeasure): Shade {
  if (measure === "state") return device.unfit !== null ? "out" : device.isHeld ? 4 : 0;
  const value = {
    use: device.usePercent,
    memory: device.memoryPercent,
    temperature: device.temperatureC,
  }[measure];
  if (value === null) return "untold";
  const { from } = STEPS[measure];
  return SCALE.findLast((shade) => value >= from[shade]!) ?? 0;
}

/** Devices of a node, one by one. */
export function devicesIn(node: NodeDevices, models: FleetDevicesReply["models"]): FleetDevice[] {
  return node.worker.map((worker, i) => ({
    worker,
    model: models[node.model[i]!]!.model,
    isHeld: node.held[i]!,
    unfit: node.unfit[i] ?? null,
    usePercent: node.usePercent[i] ?? null,
    memoryPercent: node.memoryPercent[i] ?? null,
    temperatureC: node.temperatureC[i] ?? null,
  }));
}

/** Everything that is known of a device, in one line. */
export function deviceLine(device: FleetDevice): string {
  const { worker, model, isHeld, unfit, usePercent, memoryPercent, temperatureC } = device;
  return [
    `${worker}, ${model}`,
    unfit !== null ? `takes no work: ${unfit}` : isHeld ? "in use" : "free",
    usePercent === null ? null : `${usePercent}% busy`,
    memoryPercent === null ? null : `${memoryPercent}% of memory`,
    temperatureC === null ? null : `${temperatureC} °C`,
  ]
    .filter((part) => part !== null)
    .join(" · ");
}

/** A node in one sentence, for whoever does not see its cells. */
export function nodeLine(node: string, devices: readonly FleetDevice[]): string {
  const count = (is: (device: FleetDevice) => boolean) => devices.filter(is).length;
  const out = count(({ unfit }) => unfit !== null);
  const heats = devices.map(({ temperatureC }) => temperatureC).filter((heat) => heat !== null);
  return [
    `${node}: ${count(({ isHeld }) => isHeld)} of ${devices.length} in use`,
    out === 0 ? null : `${out} take no work`,
    heats.length === 0 ? null : `at most ${Math.max(...heats)} °C`,
  ]
    .filter((part) => part !== null)
    .join(", ");
}
