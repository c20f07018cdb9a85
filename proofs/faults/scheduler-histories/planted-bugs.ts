/** Bugs that somebody might make in the scheduler, each a change of one place of its code. Histories must find each of them. */
export type PlantedBug = {
  what: string;
  /** Of the coordinator's `src/kernel`. */
  file: string;
  from: string;
  to: string;
  /** In which histories it shows. */
  kind: "fleet" | "kernel";
};

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    what: "a worker that was given out is free still",
    file: "decisions/placement-fleet.ts",
    from: "    this.withhold(\n      workers.map(({ id }) => id),\n      gang.project,\n    );\n    if (gang.isReached",
    to: "    if (gang.isReached",
    kind: "fleet",
  },
  {
    what: "a gang is placed in part",
    file: "decisions/placement-fleet.ts",
    from: "if (offer.count >= members && offer.bucket.room > room)",
    to: "if (offer.count >= members - 1 && offer.bucket.room > room)",
    kind: "fleet",
  },
  {
    what: "a gang without a hub is torn over nodes",
    file: "decisions/choose-workers.ts",
    from: "whole ?? (gang.hubBytes === null ? null : gather(",
    to: "whole ?? (gang.hubBytes === 0 ? null : gather(",
    kind: "fleet",
  },
  {
    what: "large gangs are told nothing",
    file: "decisions/placement.ts",
    from: "if (this.#placed.has(gang)) continue;",
    to: "if (this.#placed.has(gang) || gang.size > 3) continue;",
    kind: "fleet",
  },
  {
    what: "two shapes are taken for one",
    file: "decisions/gang-shapes.ts",
    from: "images, estimatedMemoryMb, agentProtocol],",
    to: "images, agentProtocol],",
    kind: "fleet",
  },
  {
    what: "a limit lets one more by",
    file: "decisions/shares.ts",
    from: "(freed[model] ?? 0) + count > most)",
    to: "(freed[model] ?? 0) + count > most + 1)",
    kind: "fleet",
  },
  {
    what: "a pool lets a project have one more",
    file: "decisions/pool-ledger.ts",
    from: "return count <= limit ? null",
    to: "return count <= limit + 1 ? null",
    kind: "fleet",
  },
  {
    what: "a job makes way three times",
    file: "decisions/reclaim.ts",
    from: "WINDOW_MS).length < MOST_PREEMPTIONS;",
    to: "WINDOW_MS).length <= MOST_PREEMPTIONS;",
    kind: "fleet",
  },
  {
    what: "a project is taken below its guarantee",
    file: "decisions/shares.ts",
    from: "path.every(({ id, guarantee }) => (this.held(id)[model] ?? 0) > (guarantee[model] ?? 0))",
    to: "path.every(({ id, guarantee }) => (this.held(id)[model] ?? 0) >= (guarantee[model] ?? 0))",
    kind: "fleet",
  },
  {
    what: "a job takes the place of its equal",
    file: "decisions/reclaim.ts",
    from: "one.project === gang.project && one.priority < gang.priority)",
    to: "one.project === gang.project && one.priority <= gang.priority)",
    kind: "fleet",
  },
  {
    what: "a guarantee is asked of one order of borrowers alone",
    file: "decisions/reclaim.ts",
    from: "if (!mayFitWith(on.map((holder) => holder.gang))) continue;",
    to: "if (on.length > 0) continue;",
    kind: "fleet",
  },
  {
    what: "a job waits for ever for a kept worker that is gone",
    file: "decisions/placement.ts",
    from: "!eligible.includes(worker) && serves(worker));",
    to: "!eligible.includes(worker));",
    kind: "fleet",
  },
  {
    what: "a failed job goes back to the node where it failed",
    file: "decisions/placement-fleet.ts",
    from: "return this.choose(gang, fitting) === null ? new Set() : avoid;",
    to: "return this.choose(gang, fitting) === null ? avoid : new Set();",
    kind: "fleet",
  },
  {
    what: "a kept snapshot does not hear of leases",
    file: "placement-snapshots.ts",
    from: '...(changed.get("worker") ?? []), ...(changed.get("lease") ?? [])]',
    to: '...(changed.get("worker") ?? [])]',
    kind: "kernel",
  },
  {
    what: "what was placed waits still",
    file: "placement-snapshots.ts",
    from: "      this.#queued.delete(id);\n",
    to: "",
    kind: "kernel",
  },
];
