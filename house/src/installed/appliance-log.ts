/** The log of an installed appliance as its files have it: every leaf that a signed checkpoint covers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import type { LocalAppliance } from "./local-appliance.ts";

/** Longer than auditd takes to sign for what it has taken. */
const COVERED_MS = 1_500;

export class ApplianceLog {
  readonly #folder: string;

  constructor({ root }: LocalAppliance) {
    this.#folder = join(root, "data", "audit");
  }

  /** How many leaves there are now, for {@link since}. */
  async size(): Promise<number> {
    return (await this.since(0)).length;
  }

  /** Leaves from this index on. */
  async since(index: number): Promise<AuditEvent[]> {
    await sleep(COVERED_MS);
    const slug = readFileSync(join(this.#folder, "current"), "utf8").trim();
    return (await readLeaves(join(this.#folder, slug))).slice(index);
  }

  /** Operations that have not exactly one request and one outcome, as `type op: phases`. */
  async uneven(): Promise<string[]> {
    const told = (await this.since(0)).filter(
      ({ phase }) => phase !== "fact" && phase !== "observed",
    );
    return [...Map.groupBy(told, ({ op }) => op)]
      .map(([op, events]) => ({
        op,
        type: events[0]?.type,
        phases: events.map(({ phase }) => phase),
      }))
      .filter(
        ({ phases }) =>
          phases.length !== 2 || phases[0] !== "requested" || phases[1] === "requested",
      )
      .map(({ op, type, phases }) => `${type} ${op}: ${phases.join()}`);
  }
}
