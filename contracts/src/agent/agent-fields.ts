/** Fields that several messages of agent and coordinator share. */
import { Type } from "typebox";

export const Id = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" });
/** Of a file in a folder of its own: no path. */
export const FileName = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: "^[A-Za-z0-9_][A-Za-z0-9._-]*$",
});
export const Bytes = Type.Integer({ minimum: 0 });
/** More than any log has, and sums of them are still exact. */
export const LogBytes = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
export const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
export const Text = Type.String({ maxLength: 16_384 });
/** Workflows count rounds from 0 or 1; a larger number would be none that the database takes as an integer. */
export const RoundNumber = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });
