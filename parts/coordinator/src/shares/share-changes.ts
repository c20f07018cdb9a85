/** Another guarantee, limit or weight: what stands in its way, and its entry in the log, whoever asked. */
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import { ApiError } from "../api-error.ts";
import type { OperationRunner } from "../audited-operation.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import { lowersGuarantee } from "../kernel/decisions/lowered-guarantee.ts";
import { type Amounts, overGuaranteed } from "../kernel/decisions/shares.ts";
import { workerCount } from "../kernel/decisions/worker-count.ts";
import type { NamedShare, ShareChange, ShareTable } from "../kernel/share-table.ts";

/** @property mayLower nobody else has to agree, or somebody has */
type Given = { mayLower: boolean };

export class ShareChanges {
  readonly #commit: GroupCommit;
  readonly #shares: Pick<ShareTable, "all" | "find" | "changed" | "set">;

  constructor(commit: GroupCommit, shares: Pick<ShareTable, "all" | "find" | "changed" | "set">) {
    this.#commit = commit;
    this.#shares = shares;
  }

  find(id: string): NamedShare | null {
    return this.#shares.find(id);
  }

  /** @throws ApiError with what stands in the way */
  require(id: string, change: ShareChange, { mayLower }: Given): void {
    const share = this.find(id);
    if (share === null)
      throw new ApiError("not_found", `there is no organisation, team or project ${id}`);
    const after = this.#shares.changed(id, change);
    requireCovered(overGuaranteed(after));
    if (!mayLower && lowersGuarantee(this.#shares.all(), after))
      throw new ApiError(
        "approval_required",
        `this takes workers from what ${share.name} is sure of`,
      );
  }

  /** @throws ApiError with what stands in the way */
  async make(audit: OperationRunner, id: string, change: ShareChange, given: Given): Promise<void> {
    if (this.find(id) === null) this.require(id, change, given);
    await audit.operation(
      {
        type: "admin.shares",
        object: { kind: "appliance", id: "appliance" },
        detail: shareDetail(id, change),
      },
      ({ completeIn }) =>
        this.#commit.run((db) => {
          this.apply(id, change, given);
          completeIn(db);
        }),
    );
  }

  /** Inside a transaction, which must be rolled back where it throws. @throws ApiError */
  apply(id: string, change: ShareChange, given: Given): void {
    this.require(id, change, given);
    requireCovered(this.#shares.set(id, change));
  }
}

/** @throws ApiError where more would be guaranteed below a share than it is guaranteed itself */
function requireCovered(over: ReturnType<typeof overGuaranteed>): void {
  if (over === null) return;
  const { parent, model, guaranteed, wanted } = over;
  throw new ApiError(
    "validation_failed",
    `guarantee: ${parent} is guaranteed ${workerCount(guaranteed)} of ${model}, and what is below it would be guaranteed ${wanted}`,
  );
}

/** What the log says of a change. */
export function shareDetail(
  id: string,
  { guarantee, limit, weight, personRunning, personQueued, interactiveIdleMinutes }: ShareChange,
): EventDetail<"admin.shares"> {
  return {
    share: id,
    ...(guarantee === undefined ? {} : { guarantee: listOf(guarantee) }),
    ...(limit === undefined ? {} : { limit: listOf(limit) }),
    ...(weight === undefined ? {} : { weight: String(weight) }),
    ...(personRunning === undefined ? {} : { person_running: personRunning }),
    ...(personQueued === undefined ? {} : { person_queued: personQueued }),
    ...(interactiveIdleMinutes === undefined ? {} : { interactive_idle: interactiveIdleMinutes }),
  };
}

/** By model, the first in the alphabet first. */
function listOf(amounts: Amounts): { model: string; workers: number }[] {
  return Object.entries(amounts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([model, workers]) => ({ model, workers }));
}
