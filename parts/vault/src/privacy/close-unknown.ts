/** What the log has open of the vault, and no row of its own tells of: the database was put back to before it was asked for. */
import type { VaultParts } from "../parts.ts";
import { ACT_TYPES } from "./close-interrupted.ts";

/** @throws AuditUnavailable */
export async function closeUnknown({ acts, outbox, record, turns }: VaultParts): Promise<void> {
  const open = (await record.openOperations()).flatMap(({ op, type: named }) => {
    const type = Object.values(ACT_TYPES).find((one) => one === named);
    return type === undefined ? [] : [{ op, type }];
  });
  if (open.length === 0) return;
  await turns.run(async () =>
    acts.transaction(() => {
      for (const { op, type } of open) {
        // Looked for only after the log was asked: what began meanwhile has its row, and what is under way is brought to its end by it.
        if (outbox.tellsOf(op)) continue;
        const object =
          type === "privacy.retention"
            ? ({ kind: "log", id: "vault" } as const)
            : ({ kind: "user", id: op } as const);
        outbox.write({
          type,
          phase: "failed",
          op,
          actor: { sub: "vault", kind: "system" },
          object,
          outcome: { code: "interrupted" },
        });
      }
    }),
  );
}
