import { randomBytes } from "node:crypto";
import type { ArrayBody } from "@resontech/contracts/http-arrays";
import { ApiError } from "../api-error.ts";
import type { EventParts, OperationRunner } from "../audited-operation.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { AllGates } from "./all-gates.ts";
import { arrayPoints, taskAtPoint } from "./decisions/array-points.ts";
import {
  idempotencyOf,
  requireOrder,
  submissionParts,
  type SubmissionDeps,
} from "./submit-task.ts";

/** So many ask for their gate at once: others ask as well. */
const ASKED_AT_ONCE = 32;

export type ArraySubmissionDeps = SubmissionDeps & {
  kernel: Pick<Kernel, "submitArray" | "arrayOf">;
};

/**
 * Validates the task once. Each job of the array then has a gate of its own, and one transaction makes them all, or none.
 * @returns the id of the array
 * @throws as `submitTask` does, and ApiError validation_failed for an array that can't be
 */
export async function submitArray(
  deps: ArraySubmissionDeps,
  owner: { userId: string; projectId: string },
  bucket: string,
  body: ArrayBody,
  idempotencyKey: string | null,
  audit: OperationRunner,
): Promise<string> {
  const { kernel } = deps;
  const places = arrayPoints(body);
  const { after = [], pool = null } = body.task;
  const idempotency = idempotencyOf(idempotencyKey, body);
  if (idempotency !== null) {
    const known = kernel.findSubmitted(owner.projectId, idempotency.key, idempotency.bodySha256);
    const earlier = known === null ? null : kernel.arrayOf(known.id);
    if (known !== null && earlier !== null)
      return await audit.operation(
        { type: "job.submit", object: { kind: "job", id: known.id } },
        async () => earlier,
      );
  }
  requireOrder(kernel, after);
  kernel.requireQueueRoom(owner);
  const validated = await deps.validate(deps, bucket, body.task);
  const { hasKeyInScript: _, ...task } = validated;
  const points = places.map((place) => ({ place, task: taskAtPoint(task, place, places.length) }));
  for (const { task: one } of points) {
    const busy = kernel.livingJobOf(bucket, one.outputRoot);
    if (busy !== null)
      throw new ApiError("workspace_busy", `/${one.outputRoot} is used by job ${busy}`);
  }
  await deps.volume.durable();
  const id = `a_${randomBytes(12).toString("hex")}`;
  const gates = new AllGates(points.length, (proofs) =>
    kernel.submitArray({
      ...{ id, name: validated.name, ...owner, atOnce: body.atOnce ?? null },
      jobs: points.map(({ place, task: one }, at) => ({
        place,
        task: {
          ...{ ...one, ...owner, after, pool, audit: proofs[at]! },
          idempotency: at === 0 ? idempotency : null,
        },
      })),
    }),
  );
  const parts = points.map(({ place: { point }, task: one }) =>
    submissionParts(
      { ...validated, ...one },
      {
        ...(after.length === 0 ? {} : { after: after.length }),
        ...(pool === null ? {} : { pool }),
        ...{ array: id, array_index: point },
      },
    ),
  );
  const [made] = await openAll(audit, gates, parts);
  return made!;
}

/** All of them, some at a time. @throws what the first of them throws */
async function openAll<T>(
  audit: OperationRunner,
  gates: AllGates<T>,
  parts: readonly EventParts<"job.submit">[],
): Promise<T[]> {
  const running: Promise<T>[] = [];
  for (let from = 0; from < parts.length && !gates.hasFailed; from += ASKED_AT_ONCE) {
    const asked = parts.slice(from, from + ASKED_AT_ONCE).map(async (part, at) => {
      const opened = Promise.withResolvers<void>();
      const operation = audit.operation(part, async ({ proof, closedElsewhere }) => {
        opened.resolve();
        const made = await gates.open(from + at, proof);
        closedElsewhere();
        return made;
      });
      operation.catch((error: unknown) => {
        gates.fail(error);
        opened.resolve();
      });
      running.push(operation);
      await opened.promise;
    });
    await Promise.all(asked);
  }
  return await Promise.all(running);
}
