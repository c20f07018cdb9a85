import { randomUUID } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { PiiField } from "@resontech/contracts/audit-event";
import {
  auditedOperation,
  type OperationDeps,
  type OperationRunner,
} from "../audited-operation.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import { codeOf } from "./decisions/run-failure.ts";

/** Operations that the coordinator carries out for the owner of a schedule, whom no request names. */
export function operationsFor(deps: OperationDeps, userId: string): OperationRunner {
  return {
    operation: ({ type, object, detail, pii }, effect) => {
      const op = randomUUID();
      const commit = committer();
      const fields = (Object.entries(pii ?? {}) as [PiiField, string][])
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([field, value]) => ({ field, commitment: commit(`pii.${field}`, value) }));
      const draft = {
        ...{ type, op, actor: COORDINATOR_ACTOR, on_behalf_of: userId },
        object:
          "path" in object
            ? { kind: "object" as const, id: commit("object.id", object.path) }
            : { id: op, ...object },
        ...(detail === undefined ? {} : { detail }),
        ...(fields.length === 0 ? {} : { pii: fields }),
      };
      return auditedOperation(
        ...([deps, draft, commit.disclosures] as const),
        (error) => ({ phase: "failed", code: codeOf(error) ?? "internal_error" }),
        effect,
      );
    },
  };
}
