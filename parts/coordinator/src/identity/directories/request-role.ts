/** A role of the whole appliance that a group would give is not given: two people decide. Until then it stands as a request. */
import { randomUUID } from "node:crypto";
import type { RecordEvent } from "../../audit-ports.ts";
import { COORDINATOR_ACTOR } from "../../authorization/in-the-log.ts";
import type { ApplianceRole } from "../../authorization/roles.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";

/** Inside the caller's transaction; asking twice changes nothing. */
export type RequestRole = (db: WriteHandle, userId: string, role: ApplianceRole) => void;

/** The request as a row, an audit event, and by {@link openRequests} a finding. */
export function requestRoleOnRecord(record: RecordEvent, now: () => number): RequestRole {
  return (db, userId, role) => {
    const { changes } = db
      .prepare("INSERT OR IGNORE INTO role_requests (user_id, role, requested_at) VALUES (?, ?, ?)")
      .run(userId, role, now());
    if (changes === 0) return;
    record(db, {
      ...{ type: "iam.role.request", phase: "fact", op: randomUUID(), actor: COORDINATOR_ACTOR },
      object: { kind: "user", id: userId },
      detail: { role },
    });
  };
}

export function openRequests(
  db: Pick<ReadHandle, "prepare">,
): { username: string; role: string }[] {
  return db
    .prepare<[], { username: string; role: string }>(
      "SELECT u.username, r.role FROM role_requests r JOIN users u ON u.id = r.user_id ORDER BY r.requested_at LIMIT 50",
    )
    .all();
}
