/** Rows of what people signed at a step-up. */
import type { StepUpSignature, StepUpStatement } from "@resontech/contracts/approval-proof";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";

export type KeptSignature = Pick<StepUpStatement, "approval" | "answer"> &
  StepUpSignature & {
    /** Unix milliseconds. */
    signedAt: number;
  };

/** Who signs again, signs in place of before. False where the request was answered meanwhile: what it was answered by stays. */
export function keepSignature(db: WriteHandle, kept: KeptSignature): boolean {
  const keptFor = (approvals: string, signatures: string): boolean =>
    db
      .prepare(
        `INSERT OR REPLACE INTO ${signatures} (approval_id, answer, user_id, salt, token, signed_at)
         SELECT id, @answer, @by, @salt, @token, @signedAt FROM ${approvals} WHERE id = @approval AND state = 'requested'`,
      )
      .run(kept).changes > 0;
  return (
    keptFor("approvals", "step_up_signatures") || keptFor("later_approvals", "later_signatures")
  );
}

export function findSignature(
  db: ReadHandle,
  of: Pick<KeptSignature, "approval" | "answer" | "by">,
): KeptSignature | null {
  return (
    db
      .prepare<[typeof of], KeptSignature>(
        `SELECT approval_id AS approval, answer, user_id AS "by", salt, token, signed_at AS signedAt
         FROM every_signature WHERE approval_id = @approval AND answer = @answer AND user_id = @by`,
      )
      .get(of) ?? null
  );
}
