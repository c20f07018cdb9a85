/** A part that reads at its start what an operator set: a choice and a file. It does nothing. */
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { defineFrameless } from "@resontech/frame/define-part";
import type { Layout } from "@resontech/frame/layout";
import { Type } from "typebox";
import { loadConfig } from "../../src/config/load-config.ts";
import type { PartContext } from "../../src/parts/context.ts";

export const toy = defineFrameless({
  ...{ name: "toy", user: 900, program: "toy.mjs", after: [], inShortage: "middle" },
  ownConfig: {
    schema: Type.Object({ outputExport: Type.String(), toys: Type.Unknown() }),
    from: ({ appliance, layout, read }) => ({
      outputExport: appliance.outputExport ?? "open",
      toys: JSON.parse(read(layout.setting("toys.json")) ?? "null") as unknown,
    }),
  },
  ...{ sockets: { life: { for: "root", speaks: "nothing" } }, certificates: [] },
  ...{ health: { endsConnections: ["life"] }, stop: { graceMs: 5_000 }, firstBytes: 0 },
  choices: ["outputExport"],
  settings: [{ file: "toys.json", schema: Type.Object({ count: Type.Integer() }) }],
  data: null,
});

/** As it is set now. */
export function toyContext(layout: Layout): PartContext {
  const config: ApplianceConfig = loadConfig(layout.configFile);
  const release = { version: "1", images: [], tree: [], engines: {} } as unknown;
  return { layout, config, parts: [toy], release: release as PartContext["release"] };
}

/** What the tests set. */
export const WANTED = {
  formatVersion: 1,
  appliance: { outputExport: "controlled" },
  parts: { toy: { "toys.json": { count: 3 } } },
} as const;
