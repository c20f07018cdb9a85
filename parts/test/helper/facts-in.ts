import { join } from "node:path";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import type { PartFacts } from "@resontech/frame/define-part";
import { Layout } from "@resontech/frame/layout";
import { partFacts } from "@resontech/frame/part-facts";
import { createUser } from "@nats-io/nkeys";
import { PARTS } from "../../index.ts";
import { APPLIANCE } from "./appliance.ts";

const SEED = new TextDecoder().decode(createUser().getSeed());
export const SECRET_VALUE = "what-no-argument-may-have";
/** What an install leaves, by the ends of the files' names. */
const FILES: Readonly<Record<string, string>> = {
  ...{
    ".seed": SEED,
    password: SECRET_VALUE,
    "audit-inception": "2026-01-31",
    "audit-reserve": "134217728",
  },
  "retention.json": '{"leavesYears":10,"disclosuresMonths":12,"anonymousMonths":3}',
};

/** Of an appliance that lies there, on a host that nothing is read of. */
export function factsIn(root: string, instance: string): PartFacts {
  return partFacts(
    {
      ...{ layout: new Layout(root, instance), appliance: APPLIANCE, parts: PARTS },
      release: { version: "1", images: [] },
      host: {
        ...{ kind: "appliance", instance, address: APPLIANCE.address, node: "n1", cpuWorkers: 2 },
        ...{ containerEngine: { kind: "podman" }, jobPorts: DEFAULT_JOB_PORTS },
        appliance: { name: APPLIANCE.name, ports: APPLIANCE.ports },
        ...{ trustFile: join(root, "etc", "ca", "trust.crt"), toolsHome: "/opt/tools" },
      },
    },
    {
      read: (file) => Object.entries(FILES).find(([end]) => file.endsWith(end))?.[1] ?? null,
      has: () => true,
      realPath: () => join(root, "releases", "0.1.0"),
      names: () => ["hospital.crt"],
      certificateSha256: () => "0".repeat(64),
      room: () => ({ totalBytes: 1024 ** 4, freeBytes: 1024 ** 4 }),
      sizeOf: () => 0,
      limits: () => ({ processors: 4, openFiles: 8_192 }),
      now: () => new Date("2026-01-31T12:00:00Z"),
    },
  );
}
