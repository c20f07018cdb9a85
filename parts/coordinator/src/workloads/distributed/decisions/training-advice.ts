/**
 * What a training takes, of each kind of device: the row of the table that is published, beside it our estimate, and what of both a job can ask for on
 * this appliance now. What is unknown is said, and nothing is made up in its place. Pure.
 */
import type { Strategy } from "@resontech/contracts/distributed-spec";
import { MOST_RANK_MEMBERS } from "@resontech/contracts/distributed-spec";
import {
  type AdviceReply,
  type DeviceAdvice,
  type ModelShape,
  SHARDINGS,
  type ShardingEstimate,
  type TableRowId,
} from "@resontech/contracts/http-advice";
import { MAX_WORKERS_EACH } from "@resontech/contracts/most-workers";
import type { FleetModel, WorkerView } from "../../../kernel/fleet-view.ts";
import { STRATEGY_TABLE, VERY_LARGE } from "./strategy-table.ts";
import { estimateSharding, FREE_SHARE, type Training } from "./training-memory.ts";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
/** Experts and large vocabularies make as much of a difference. */
const FARTHEST_SHAPE = 3;

type SiteWorker = Pick<WorkerView, "node" | "model" | "totalMemoryMb" | "status">;
type Model = Pick<FleetModel, "id" | "name" | "kind" | "memoryMb">;

/**
 * @property workers of the site @property named models that were asked for; null: GPUs of the site, or its processors
 * @property gpus that were supposed; null: as many as one node has @property hasDeepspeed of some image of the appliance
 */
export type AdviceFacts = {
  workers: readonly SiteWorker[];
  catalogue: readonly Model[];
  named: readonly string[] | null;
  gpus: number | null;
  hasDeepspeed: boolean;
};

/** @property facts `named` are ids of the catalogue */
export function adviseTraining(training: Training, facts: AdviceFacts): AdviceReply {
  const { parameters, precision, optimizer, sequence, shape } = training;
  const places = placesOf(facts);
  return {
    ...{ parameters, precision, optimizer, sequence, shape },
    table: Object.values(STRATEGY_TABLE).map(({ row, model, from, to, strategy }) => ({
      ...{ row, model, from, to, strategy },
    })),
    rowBySize: parameters >= VERY_LARGE ? "very-large" : null,
    devices: places.map((place) => adviceFor(training, place, facts.gpus)),
    notes: notesOf(training, places, facts),
  };
}

/** @property memoryMb 0 where nobody knows, as of processors of which none are here */
type Place = {
  model: Model;
  memoryMb: number;
  isOfSite: boolean;
  online: number;
  mostOnOneNode: number;
};

function placesOf({ workers, catalogue, named }: AdviceFacts): Place[] {
  const online = workers.filter(({ status }) => status !== "unavailable");
  const there = catalogue.filter(({ id }) => online.some(({ model }) => model === id));
  const hasGpus = there.some(({ kind }) => kind === "gpu");
  const chosen =
    named === null
      ? there.filter(({ kind }) => kind === (hasGpus ? "gpu" : "cpu"))
      : catalogue.filter(({ id }) => named.includes(id));
  return chosen.map((model) => {
    const mine = online.filter((worker) => worker.model === model.id);
    const nodes = Map.groupBy(mine, ({ node }) => node);
    return {
      ...{ model, isOfSite: mine.length > 0, online: mine.length },
      memoryMb:
        mine.length > 0
          ? Math.min(...mine.map(({ totalMemoryMb }) => totalMemoryMb))
          : model.memoryMb,
      mostOnOneNode: Math.max(0, ...[...nodes.values()].map((of) => of.length)),
    };
  });
}

function adviceFor(training: Training, place: Place, gpus: number | null): DeviceAdvice {
  const { model, memoryMb, isOfSite, online, mostOnOneNode } = place;
  const estimate = (sharding: ShardingEstimate["sharding"], devices: number): ShardingEstimate =>
    estimateSharding(training, sharding, devices, memoryMb * MIB);
  const { row, why } = rowFor(training, place, gpus, estimate);
  const { advised, advisedWhy } = adviseHere(row, place, gpus, estimate);
  const devices =
    gpus ??
    advised?.workers ??
    (isOfSite ? Math.max(1, mostRanksHere(place)) : elsewhere(row, estimate));
  return {
    ...{ model: model.id, name: model.name, kind: model.kind, memoryMb, isOfSite },
    ...{ online, mostOnOneNode, row, why, advised, advisedWhy },
    // Of no memory nothing can be estimated.
    estimates: memoryMb === 0 ? [] : SHARDINGS.map((sharding) => estimate(sharding, devices)),
  };
}

/** What the estimate is of, where none is here: the fewest that the table names, and more where these don't do. */
function elsewhere(row: TableRowId | null, estimate: Estimate): number {
  const { from, to, shardings } = STRATEGY_TABLE[row ?? "several-gpus"];
  const { leastDevices } = estimate(shardings[0]!, to);
  return Math.min(MAX_WORKERS_EACH, Math.max(from, leastDevices ?? to));
}

type Estimate = (sharding: ShardingEstimate["sharding"], devices: number) => ShardingEstimate;

/** Of what a device of this memory holds; of processors the table says nothing. */
function rowFor(
  { parameters }: Training,
  { model, memoryMb, online, isOfSite }: Place,
  gpus: number | null,
  estimate: Estimate,
): { row: TableRowId | null; why: string } {
  if (model.kind === "cpu")
    return { row: null, why: "The table is of GPUs, and says nothing of processors." };
  if (parameters >= VERY_LARGE)
    return { row: "very-large", why: "By its size alone, whatever a device holds." };
  const alone = estimate("ddp", 1);
  if (alone.fits !== "no")
    return {
      row: "one-gpu",
      why: `By our estimate it fits on one: ${needWords(alone)} of ${gib(memoryMb * MIB)}.`,
    };
  const { to } = STRATEGY_TABLE["several-gpus"];
  const cluster = gpus ?? (isOfSite ? online : to);
  const least = Math.min(
    ...(["fsdp", "zero2"] as const).map(
      (sharding) => estimate(sharding, cluster).leastDevices ?? Number.POSITIVE_INFINITY,
    ),
  );
  const one = `One lacks ${gib(alone.missingBytes)} by our estimate`;
  if (least <= cluster)
    return {
      row: "several-gpus",
      why: `${one}, and ${least} hold it${alone.microBatch === null ? ", without activations, which are unknown" : ""}.`,
    };
  const { missingBytes } = estimate("fsdp", cluster);
  const rest = Number.isFinite(least)
    ? `${least} would hold it`
    : "no number of them holds it, for a part lies on each whole";
  return {
    row: null,
    why: `${one}. Divided among ${cluster} each still lacks ${gib(missingBytes)}: ${rest}.`,
  };
}

/** So many ranks can be submitted: GPUs of one node, for those of two don't reach one another; slots of processors of all nodes. */
function mostRanksHere({ model, online, mostOnOneNode }: Place): number {
  return model.kind === "gpu"
    ? Math.min(mostOnOneNode, MAX_WORKERS_EACH)
    : Math.min(online, MOST_RANK_MEMBERS);
}

/** What a job can ask for here: as many as the table names at most, of those that there are. */
function adviseHere(
  row: TableRowId | null,
  place: Place,
  gpus: number | null,
  estimate: Estimate,
): Pick<DeviceAdvice, "advised" | "advisedWhy"> {
  const { model, online, mostOnOneNode, isOfSite } = place;
  const nothing = (advisedWhy: string) => ({ advised: null, advisedWhy });
  const here = mostRanksHere(place);
  if (!isOfSite) return nothing("No such device is online here.");
  if (gpus !== null && gpus > here)
    return nothing(
      model.kind === "gpu"
        ? `${gpus} were asked about, and one node here has ${mostOnOneNode}: ranks on GPUs of several nodes don't reach one another.`
        : `${gpus} were asked about, and ${here} is the most that a job here can have.`,
    );
  const entry = row === null ? null : STRATEGY_TABLE[row];
  const workers = gpus ?? Math.min(here, entry?.to ?? STRATEGY_TABLE["one-gpu"].to);
  const tries: [Strategy, number][] = [
    ...(entry?.nearest === "fsdp" ? [] : [["ddp", workers] as [Strategy, number]]),
    ["fsdp", workers],
    // Alone a device has no buckets of gradients.
    ...(entry?.nearest === "fsdp" || gpus !== null ? [] : [["ddp", 1] as [Strategy, number]]),
  ];
  const found = tries.find(([strategy, count]) => estimate(strategy, count).fits !== "no");
  if (found === undefined) {
    const { missingBytes, leastDevices } = estimate("fsdp", workers);
    const elsewhere =
      model.kind === "gpu" && online > mostOnOneNode
        ? ` Of ${online} here ${mostOnOneNode} are on one node, and ranks on GPUs of several nodes don't reach one another.`
        : "";
    return nothing(
      `Even divided among ${workers} each lacks ${gib(missingBytes)}; ${leastDevices === null ? "no number of them holds it" : `${leastDevices} would hold it`}.${elsewhere}`,
    );
  }
  const [strategy, count] = found;
  const below =
    entry !== null && count < entry.from ? ` The table names ${entry.from} at the least.` : "";
  const instead =
    entry?.nearest === "ddp" && strategy === "fsdp"
      ? " On several its gradients don't fit twice, as DDP keeps them by itself."
      : "";
  const states =
    estimate(strategy, count).fits === "states" ? " Whether activations fit is unknown." : "";
  return {
    advised: { strategy, workers: count },
    advisedWhy: `${count} of ${online} that are online${model.kind === "gpu" ? `, ${mostOnOneNode} of them on one node` : ""}.${below}${instead}${states}`,
  };
}

function notesOf(
  { parameters, shape, sequence }: Training,
  places: readonly Place[],
  { workers, catalogue, hasDeepspeed, gpus }: AdviceFacts,
): string[] {
  const isGpu = (id: string): boolean =>
    catalogue.some((model) => model.id === id && model.kind === "gpu");
  const hasGpu = workers.some(({ model, status }) => status !== "unavailable" && isGpu(model));
  const isBare = !hasGpu && !places.some(({ model }) => model.kind === "gpu");
  return [
    ...(isBare
      ? [
          "No GPU of this appliance is online: for GPUs the table alone advises. Name a model to estimate for it.",
        ]
      : []),
    ...(sequence === null
      ? [
          "Activations, micro-batch and checkpointing are unknown: no length of a sequence was named.",
        ]
      : shape === null
        ? [
            "Activations, micro-batch and checkpointing are unknown: no published model is about so large. Name layers, hidden and heads.",
          ]
        : []),
    ...(sequence !== null && shape !== null && shape.like !== null
      ? [
          `Layers, width and heads are assumed, as ${shape.like} has them. Name layers, hidden and heads of yours.`,
        ]
      : []),
    ...(shape !== null && shape.like === null ? mismatch(parameters, shape) : []),
    `All sizes are estimates for a decoder-only transformer whose parameters are all trained. ${Math.round((1 - FREE_SHARE) * 100)} % of a device is left free.`,
    "A micro-batch without attention's scores counts on a fused attention.",
    "Where data may not leave its site, or sites have unlike devices, the table names a federated job instead.",
    `This appliance starts the ranks as ddp or fsdp names them; the script itself divides the model. Nothing here starts DeepSpeed: the script has to.${hasDeepspeed ? "" : " No job image here has the package deepspeed: the script has to bring it in a folder that it reads."}`,
    ...(gpus === null
      ? ["A pool, a share or a job that runs may keep some of the devices from yours."]
      : []),
  ];
}

/** A block of a transformer has about 12·h² weights (Korthikanti et al. 2022, section 6). */
function mismatch(parameters: number, { layers, hidden }: ModelShape): string[] {
  const made = 12 * layers * hidden ** 2;
  return Math.abs(Math.log(made / parameters)) <= Math.log(FARTHEST_SHAPE)
    ? []
    : [
        `Layers and width that were named make about ${made.toExponential(1)} parameters, and ${parameters.toExponential(1)} were named: see whether both are of one model.`,
      ];
}

function needWords({
  weightsBytes,
  gradientsBytes,
  optimizerBytes,
  fits,
}: ShardingEstimate): string {
  const states = gib(weightsBytes + gradientsBytes + optimizerBytes);
  return fits === "yes"
    ? `${states} of weights, gradients and states, and one sample,`
    : `${states} of weights, gradients and states, activations unknown,`;
}

function gib(bytes: number): string {
  const value = bytes / GIB;
  return `${value < 0.1 ? value.toFixed(3) : value.toFixed(1)} GiB`;
}
