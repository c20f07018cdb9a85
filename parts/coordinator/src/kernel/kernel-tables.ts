import type { Meta } from "../db/meta.ts";
import type { Changes } from "./changes.ts";
import type { CheckpointTable } from "./checkpoint-table.ts";
import type { Clock } from "./clock.ts";
import type { CommandOutbox } from "./command-outbox.ts";
import type { CurveTable } from "./curve-table.ts";
import type { JobBridges } from "./job-bridges.ts";
import type { JobTable } from "./job-table.ts";
import type { KernelRecords } from "./kernel-records.ts";
import type { LastModelTable } from "./last-model-table.ts";
import type { LogMergeTable } from "./log-merge-table.ts";
import type { MemberTable } from "./member-table.ts";
import type { OutputTable } from "./output-table.ts";
import type { PreemptionTable } from "./preemption-table.ts";
import type { PlacementSignal } from "./placement-signal.ts";
import type { WarningTable } from "./warning-table.ts";
import type { Workloads } from "./workload.ts";

/** What the kernel's rows are read and written by, the kinds of jobs that they tell of, and who hears of what was written. */
export type KernelTables = {
  clock: Clock;
  meta: Meta;
  jobs: JobTable;
  members: MemberTable;
  outputs: OutputTable;
  checkpoints: CheckpointTable;
  lastModels: LastModelTable;
  logMerges: LogMergeTable;
  commands: CommandOutbox;
  bridges: JobBridges;
  records: KernelRecords;
  warnings: WarningTable;
  curves: CurveTable;
  changes: Changes;
  placementSignal: PlacementSignal;
  preemptions: PreemptionTable;
  workloads: Workloads;
};
