/**
 * Roles that the newest token of a person names and that were not taken, since duties exclude each other. On record once for each change: tokens come every
 * few minutes. What was said is kept in memory, so a coordinator that starts says once more what still stands.
 */
import { randomUUID } from "node:crypto";
import type { RecordEvent } from "../../audit-ports.ts";
import { COORDINATOR_ACTOR } from "../../authorization/in-the-log.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { WriteHandle } from "../../db/open-database.ts";

export class WithheldRoles {
  readonly #commit: Pick<GroupCommit, "afterCommit">;
  readonly #record: RecordEvent;
  readonly #said = new Map<string, string>();

  constructor(commit: Pick<GroupCommit, "afterCommit">, record: RecordEvent) {
    this.#commit = commit;
    this.#record = record;
  }

  /** Inside the transaction that takes the roles. @param taken of those that the token names */
  note(
    db: WriteHandle,
    userId: string,
    named: readonly ApplianceRole[],
    taken: readonly ApplianceRole[],
  ): void {
    const withheld = [...new Set(named)].filter((role) => !taken.includes(role)).sort();
    const text = withheld.join(" ");
    if (text === (this.#said.get(userId) ?? "")) return;
    this.#record(db, {
      ...{ type: "iam.role.withheld", phase: "fact", op: randomUUID(), actor: COORDINATOR_ACTOR },
      object: { kind: "user", id: userId },
      detail: { roles: withheld, held: [...taken].sort() },
    });
    this.#commit.afterCommit(() => {
      if (text === "") this.#said.delete(userId);
      else this.#said.set(userId, text);
    });
  }
}
