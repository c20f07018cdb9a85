/** What an operator must know of an appliance, and what to do about it. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

export const ToldFinding = Type.Object(
  {
    /** `fault`: something does not work; `warning`: it works, and will not for long or not as it should. */
    severity: Type.Enum(["fault", "warning"]),
    /** For programs: it never changes. */
    code: Type.String({ maxLength: 64 }),
    what: Type.String({ maxLength: 2_048 }),
    todo: Type.String({ maxLength: 2_048 }),
  },
  closed,
);
export type ToldFinding = Static<typeof ToldFinding>;
