/** On how many members the ranks of a training lie, and on what kind of workers. Pure. */
import { MOST_RANK_MEMBERS } from "@resontech/contracts/distributed-spec";
import type { SubmitDistributedBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../../api-error.ts";
import type { FleetModel, WorkerView } from "../../kernel/fleet-view.ts";
import { workerCount } from "../../kernel/decisions/worker-count.ts";

type Asked = Pick<
  SubmitDistributedBody,
  "workers" | "workersPerMember" | "gpuModels" | "workerIds"
>;

/** @property models that ranks may have, where nobody said which: of one kind, for ranks of two kinds would not understand one another */
export type RankPlaces = { workersPerMember: number; members: number; gpuModels?: string[] };

/** @throws ApiError validation_failed */
export function rankPlaces(
  asked: Asked,
  workers: readonly Pick<WorkerView, "id" | "kind">[],
  catalogue: readonly Pick<FleetModel, "id" | "kind">[],
): RankPlaces {
  const { kind, gpuModels } = kindOf(asked, workers, catalogue);
  const each = asked.workersPerMember ?? (kind === "gpu" ? asked.workers : 1);
  const members = asked.workers / each;
  if (!Number.isInteger(members))
    throw invalid(`workers is no multiple of workersPerMember: ${asked.workers} of ${each}`);
  if (kind === "gpu" && members > 1)
    throw invalid(
      `workersPerMember must be workers: ranks on accelerators of several nodes can't reach one another, so all ${workerCount(asked.workers)} must be of one node`,
    );
  if (members > 1 && asked.workers > MOST_RANK_MEMBERS)
    throw invalid(`workers over several members may be ${MOST_RANK_MEMBERS} at most`);
  return { workersPerMember: each, members, ...(gpuModels === undefined ? {} : { gpuModels }) };
}

function kindOf(
  { gpuModels: wished = [], workerIds: pinned = [] }: Asked,
  workers: readonly Pick<WorkerView, "id" | "kind">[],
  catalogue: readonly Pick<FleetModel, "id" | "kind">[],
): { kind: "gpu" | "cpu"; gpuModels?: string[] } {
  if (pinned.length > 0)
    return only(workers.filter(({ id }) => pinned.includes(id)).map(({ kind }) => kind));
  if (wished.length > 0)
    return only(catalogue.filter(({ id }) => wished.includes(id)).map(({ kind }) => kind));
  const kind = workers.some((worker) => worker.kind === "gpu") ? "gpu" : "cpu";
  return { kind, gpuModels: catalogue.filter((one) => one.kind === kind).map(({ id }) => id) };
}

/** What is unknown is told by whoever selects workers. */
function only(kinds: readonly ("gpu" | "cpu")[]): { kind: "gpu" | "cpu" } {
  const [first = "cpu", ...others] = new Set(kinds);
  if (others.length > 0)
    throw invalid("the ranks of one training can't lie on processors and on accelerators");
  return { kind: first };
}

function invalid(message: string): ApiError {
  return new ApiError("validation_failed", `body: ${message}`);
}
