import { shownKind } from "../kernel/decisions/stored-kind.ts";
import type { Workload, Workloads } from "../kernel/workload.ts";
import { command } from "./command/command.ts";
import { distributed } from "./distributed/distributed.ts";
import { predictor } from "./predictor/predictor.ts";
import { federation } from "./federation/federation.ts";

/** Every kind of job that this release runs, by the `kind` of its submission. */
const KINDS: Readonly<Record<string, Workload>> = {
  command,
  distributed,
  federation,
  predictor,
};

export const WORKLOADS: Workloads = {
  has: (kind) => Object.hasOwn(KINDS, shownKind(kind)),
  of({ kind }) {
    const found = WORKLOADS.has(kind) ? KINDS[shownKind(kind)] : undefined;
    if (found === undefined) throw new Error(`this release has no workload ${kind}`);
    return found;
  },
};
