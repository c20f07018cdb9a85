/** What a recorded job (house/src/jobs/recorded) says of itself, read from the coordinator's own rows: sites' metrics as they came. */
import { join } from "node:path";
import Database from "better-sqlite3";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { overlapsOf } from "../watch/overlaps.ts";

type Tick = { site: string; instance: string; at: number; round: number; seen: number };

/** One process of one site: when it was first and last seen alive, in seconds since boot. */
export type Instance = {
  site: string;
  instance: string;
  attempt: string;
  from: number;
  until: number;
  rounds: number[];
};

export type Record = {
  instances: Instance[];
  /** Pairs of one site that were alive at the same time; must be empty. */
  overlaps: string[];
  /** Rounds whose model had been through another number of rounds than their own; must be empty. */
  wrongModels: string[];
  attempts: { number: number; startRound: number }[];
};

export function readRecord(appliance: LocalAppliance, job: string): Record {
  const db = new Database(join(appliance.root, "data", "coordinator", "coordinator.db"), {
    readonly: true,
  });
  try {
    const rows = db
      .prepare<[string], { attempt_id: string; site: string; value: string }>(
        "SELECT attempt_id, site, value FROM metrics WHERE job_id = ? ORDER BY seq",
      )
      .all(job);
    const attempts = db
      .prepare<[string], { number: number; startRound: number }>(
        "SELECT number, start_round AS startRound FROM attempts WHERE job_id = ? ORDER BY number",
      )
      .all(job);
    const ticks = rows.map(({ site, attempt_id, value }) => ({
      ...(JSON.parse(value) as Omit<Tick, "site">),
      ...{ site, attempt: attempt_id },
    }));
    const instances = [...Map.groupBy(ticks, ({ instance }) => instance).values()].map(
      (of): Instance => ({
        ...{ site: of[0]!.site, instance: of[0]!.instance.slice(0, 8), attempt: of[0]!.attempt },
        from: Math.min(...of.map(({ at }) => at)),
        until: Math.max(...of.map(({ at }) => at)),
        rounds: [...new Set(of.map(({ round }) => round))],
      }),
    );
    return {
      instances,
      overlaps: overlapsOf(
        instances.map(({ site, instance, from, until }) => ({
          place: site,
          name: instance,
          from,
          until,
        })),
      ),
      wrongModels: [
        ...new Set(
          ticks
            .filter(({ round, seen }) => seen !== round)
            .map(({ site, round, seen }) => `${site} in round ${round} had ${seen}`),
        ),
      ],
      attempts,
    };
  } finally {
    db.close();
  }
}
