import { Gauge, Registry } from "prom-client";
import type { Family } from "./decisions/samples.ts";

/** Gauges of one look, made anew for it: what is gone since the last one has no line any more. */
export function gaugeRegistry(families: readonly Family[]): Registry {
  const registry = new Registry();
  for (const [name, help, samples] of families) {
    const [first] = samples;
    if (first === undefined) continue;
    const gauge = new Gauge({
      ...{ name: `resontech_${name}`, help, registers: [registry] },
      labelNames: Object.keys(first.labels ?? {}),
    });
    for (const { labels, value } of samples) gauge.set({ ...labels }, value);
  }
  return registry;
}
