/**
 * What an operator's command writes into the audit log: a request that is durable before the effect, and its outcome.
 *
 * One command at a time has the socket, for as long as its operation is open; so what the next one finds open was broken off.
 */
import { randomUUID } from "node:crypto";
import { type AuditProducer, committer, connectProducer } from "@resontech/audit/producer";
import {
  EVENT_CATALOGUE,
  type EventDetail,
  type OperationType,
} from "@resontech/contracts/audit-catalogue";
import type { Layout } from "@resontech/frame/layout";
import type { RecordedOperation } from "@resontech/frame/host-shell";
import { hostPerson } from "./host-person.ts";

/** Another command may be at work, or auditd on its way up. */
const CONNECT_TIMEOUT_MS = 60_000;
const OPERATOR = { sub: "appliance", kind: "operator" } as const;

/**
 * auditd's socket for this command; what an earlier command left open is closed.
 * @throws AuditUnavailable
 */
export async function connectOperator(
  layout: Layout,
  connectTimeoutMs = CONNECT_TIMEOUT_MS,
): Promise<AuditProducer> {
  const socketPath = layout.run("audit", "appliance", "sock");
  const producer = await connectProducer({ socketPath, boot: randomUUID(), connectTimeoutMs });
  try {
    for (const { op, type } of await producer.openOperations()) {
      const { object: kind } = EVENT_CATALOGUE[type as OperationType];
      const outcome = { code: "interrupted" };
      await producer.outcome({
        type: type as OperationType,
        op,
        actor: OPERATOR,
        object: { kind, id: op },
        phase: "failed",
        outcome,
      });
    }
    return producer;
  } catch (error) {
    await producer.close();
    throw error;
  }
}

/**
 * Runs `effect` between requests and outcomes, one of each for every operation; what it throws closes them and is thrown on.
 * @param effect gets the highest leaf of the requests, and answers what a completed outcome says beyond `ok`
 * @throws AuditUnavailable before the effect
 */
export async function operated<T extends OperationType, R>(
  producer: AuditProducer,
  operations: readonly RecordedOperation<T>[],
  effect: (index: number) => Promise<{ result: R; detail?: EventDetail<T> }>,
): Promise<R> {
  const drafts = operations.map((operation) => ({
    ...operation,
    op: randomUUID(),
    actor: OPERATOR,
  }));
  const person = hostPerson();
  let index = 0;
  let unwitnessed = false;
  const outcomes = (
    phase: "completed" | "failed",
    code: string,
    detail?: EventDetail<T>,
  ): Promise<unknown> =>
    Promise.all(
      drafts.map(({ type, op, actor, object }) =>
        producer.outcome({
          ...{ type, op, actor, object, phase },
          outcome: { code, ...(unwitnessed ? { unwitnessed } : {}) },
          ...(detail === undefined ? {} : { detail }),
        }),
      ),
    );
  for (const draft of drafts) {
    const commit = committer();
    const actor =
      person === null ? draft.actor : { ...draft.actor, sid: commit("actor.sid", person) };
    const requested = await producer.requested<T>({ ...draft, actor }, commit.disclosures);
    index = requested.index;
    unwitnessed ||= requested.unwitnessed;
  }
  let done: Awaited<ReturnType<typeof effect>>;
  try {
    done = await effect(index);
  } catch (error) {
    await outcomes("failed", codeOf(error));
    throw error;
  }
  await outcomes("completed", "ok", done.detail);
  return done.result;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : "command_failed";
}
