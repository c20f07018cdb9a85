import type { EventDraft } from "@resontech/contracts/audit-draft";

export function jobSubmit(
  op: string = crypto.randomUUID(),
): Omit<EventDraft<"job.submit">, "phase"> {
  return {
    type: "job.submit",
    op,
    actor: { sub: "usr-1", kind: "user", roles: ["researcher"] },
    action: "POST /api/tasks",
    object: { kind: "job", id: "job-1" },
    detail: { shards: 2, input_bytes: 1_000_000 },
  };
}

export function keyList(): Omit<EventDraft<"key.list">, "phase"> {
  return {
    type: "key.list",
    op: crypto.randomUUID(),
    actor: { sub: "usr-1", kind: "user" },
    object: { kind: "user", id: "usr-1" },
  };
}
