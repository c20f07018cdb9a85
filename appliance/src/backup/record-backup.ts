import { randomUUID } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import { hostPerson } from "../audit/host-person.ts";
import { connectOperator } from "../audit/operator-record.ts";
import type { Layout } from "@resontech/frame/layout";

/**
 * Durable when it resolves. A fact for each step, and not one operation: that would keep the socket, and with it every other command, for as long as a
 * backup takes.
 * @throws AuditUnavailable
 */
export async function recordBackup(
  layout: Layout,
  detail: EventDetail<"admin.backup">,
): Promise<void> {
  await using producer = await connectOperator(layout);
  const commit = committer();
  const person = hostPerson();
  await producer.fact(
    {
      ...{ type: "admin.backup", op: randomUUID(), action: "appliance backup", detail },
      actor: {
        ...{ sub: "appliance", kind: "operator" },
        ...(person === null ? {} : { sid: commit("actor.sid", person) }),
      },
      object: { kind: "appliance", id: "appliance" },
    },
    commit.disclosures,
  );
}
