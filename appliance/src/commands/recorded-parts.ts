/** Parts that an operator starts and stops, each recorded. auditd can't be repaired through its own log: its `audit.stop` and the starts of producers tell of it. */
import type { OperationType } from "@resontech/contracts/audit-catalogue";
import { connectOperator, operated } from "../audit/operator-record.ts";
import type { PartContext } from "../parts/context.ts";

const AUDITD = "auditd";
type PartsEvent = Extract<OperationType, "admin.start" | "admin.stop" | "admin.restart">;
type Move = (parts: readonly string[]) => Promise<void>;

/** auditd last: until then it takes records. @throws AuditUnavailable before anything is stopped */
export async function stopRecorded(
  context: PartContext,
  parts: readonly string[],
  stop: Move,
): Promise<void> {
  await recorded(context, "admin.stop", parts.filter(isRecorded), stop);
  if (parts.includes(AUDITD)) await stop([AUDITD]);
}

/** auditd first: from then on it takes records. @throws AuditUnavailable before anything else is started */
export async function startRecorded(
  context: PartContext,
  parts: readonly string[],
  start: Move,
): Promise<void> {
  if (parts.includes(AUDITD)) await start([AUDITD]);
  await recorded(context, "admin.start", parts.filter(isRecorded), start);
}

/** auditd first. @throws AuditUnavailable before any other part is stopped */
export async function restartRecorded(
  context: PartContext,
  parts: readonly string[],
  restart: Move,
): Promise<void> {
  if (parts.includes(AUDITD)) await restart([AUDITD]);
  await recorded(context, "admin.restart", parts.filter(isRecorded), restart);
}

const isRecorded = (part: string): boolean => part !== AUDITD;

async function recorded(
  { layout }: PartContext,
  type: PartsEvent,
  parts: readonly string[],
  move: Move,
): Promise<void> {
  if (parts.length === 0) return;
  await using producer = await connectOperator(layout);
  const action = `appliance ${type.slice("admin.".length)}`;
  const operations = parts.map((id) => ({
    type,
    action,
    object: { kind: "process", id } as const,
  }));
  await operated(producer, operations, async () => ({ result: await move(parts) }));
}
