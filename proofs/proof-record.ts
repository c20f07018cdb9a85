/** What `docs/proofs/<name>.json` holds of a proof's last run. */
import { Type, type Static } from "typebox";

export const ProofRecord = Type.Object({
  proof: Type.String(),
  ok: Type.Boolean(),
  /** The day of the run, UTC. */
  date: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }),
  /** Of the tree that ran; with `+` where files differed from it. */
  commit: Type.String({ pattern: "^[0-9a-f]{7,40}\\+?$" }),
  args: Type.Array(Type.String()),
  figures: Type.Record(Type.String(), Type.Unknown()),
});
export type ProofRecord = Static<typeof ProofRecord>;
