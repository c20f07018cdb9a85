/** Which strategy and how many GPUs go with a model's size, as ResonTech's specification has it (section "Framework Compatibility"). Pure. */
import type { Sharding, TableRowId } from "@resontech/contracts/http-advice";
import type { Strategy } from "@resontech/contracts/distributed-spec";

/** @property nearest of what this appliance starts: the word that a job of ours has for it @property shardings what the row names */
type TableRow = {
  row: TableRowId;
  model: string;
  from: number;
  to: number;
  strategy: string;
  shardings: readonly Sharding[];
  nearest: Strategy;
};

/** From here on a model is very large, whatever its devices hold. */
export const VERY_LARGE = 70e9;

export const STRATEGY_TABLE: Record<TableRowId, TableRow> = {
  "one-gpu": {
    ...{ row: "one-gpu", model: "fits on one GPU", from: 1, to: 8 },
    ...{ strategy: "DDP", shardings: ["ddp"], nearest: "ddp" },
  },
  "several-gpus": {
    ...{
      row: "several-gpus",
      model: "larger than one GPU, fits on the cluster's",
      from: 4,
      to: 64,
    },
    ...{ strategy: "FSDP or DeepSpeed ZeRO-2", shardings: ["fsdp", "zero2"], nearest: "fsdp" },
  },
  "very-large": {
    ...{ row: "very-large", model: "70 billion parameters or more", from: 8, to: 128 },
    ...{ strategy: "FSDP with DeepSpeed ZeRO-3", shardings: ["fsdp", "zero3"], nearest: "fsdp" },
  },
};
