import { Counter, Gauge, type Metric, Registry } from "prom-client";
import type { Family } from "./decisions/samples.ts";

/** Values of one look, made anew for it: what is gone since the last one has no line any more. */
export function gaugeRegistry(families: readonly Family[]): Registry {
  const registry = new Registry();
  for (const [name, help, samples] of families) {
    const [first] = samples;
    if (first === undefined) continue;
    const full = `resontech_${name}`;
    if (first.suffix !== undefined) {
      registry.registerMetric(histogram(full, help, samples));
      continue;
    }
    const options = {
      ...{ name: full, help, registers: [registry] },
      labelNames: Object.keys(first.labels ?? {}),
    };
    if (name.endsWith("_total")) {
      const counter = new Counter(options);
      for (const { labels, value } of samples) counter.inc({ ...labels }, value);
    } else {
      const gauge = new Gauge(options);
      for (const { labels, value } of samples) gauge.set({ ...labels }, value);
    }
  }
  return registry;
}

/** One that somebody else has counted: prom-client's own counts by itself alone. */
function histogram(name: string, help: string, samples: Family[2]): Metric {
  const values = samples.map(({ suffix = "", labels = {}, value }) => ({
    ...{ metricName: `${name}${suffix}`, labels, value },
  }));
  const told = { name, help, type: "histogram", aggregator: "sum", values };
  return { name, get: async () => told, reset: () => {} } as unknown as Metric;
}
