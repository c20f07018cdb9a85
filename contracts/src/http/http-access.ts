/** `GET /api/reviews/access`: who may do what now, for whoever reviews it. */
import { type Static, Type } from "typebox";
import { Instant } from "./http-common.ts";
import { KeyScopeSchema } from "./http-identity.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

/** What a reviewer should look at. */
export const ACCESS_MARKS = [
  /** Duties that exclude each other are held by one person. */
  "duties_conflict",
  /** A role that may see no data stands beside a membership of a project. */
  "membership_without_effect",
  /** No sign-in and no use of a key for 90 days, or never, with a role or a membership. */
  "unused",
  /** A living key that nobody has used for 90 days. */
  "key_unused",
  /** The account is gone or disabled, and rights are still noted. */
  "left_with_rights",
  /** Whoever holds a role of the whole appliance signed in without a second factor last. */
  "no_second_factor",
] as const;
export type AccessMark = (typeof ACCESS_MARKS)[number];

const AccessKey = Type.Object(
  {
    id: Type.String(),
    last4: Type.String(),
    projectId: Type.String(),
    project: Type.String(),
    scopes: Type.Array(KeyScopeSchema),
    createdAt: Instant,
    expiresAt: Instant,
    lastUsedAt: Nullable(Instant),
  },
  closed,
);

export const AccessOfPerson = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    /** On the whole appliance. */
    roles: Type.Array(Type.String()),
    projects: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String(),
          role: Type.String(),
          /** By a lead, by a group of a connected directory, or the person's own first project. */
          by: Type.Enum(["lead", "group", "own"]),
        },
        closed,
      ),
    ),
    /** Living ones. */
    keys: Type.Array(AccessKey),
    /** By browser; null: never, or not since this is noted. */
    lastSignInAt: Nullable(Instant),
    /** Whether the newest session that is still open was begun with a second factor; null where none is open. */
    hasSecondFactor: Nullable(Type.Boolean()),
    isDisabled: Type.Boolean(),
    /** Gone at the identity provider. */
    hasLeft: Type.Boolean(),
    marks: Type.Array(Type.Enum([...ACCESS_MARKS])),
  },
  closed,
);
export type AccessOfPerson = Static<typeof AccessOfPerson>;

export const AccessOfProgram = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    projectId: Type.String(),
    project: Type.String(),
    scopes: Type.Array(Type.String()),
    answeredBy: Type.String(),
    /** Nobody answers for it any more. */
    isOrphan: Type.Boolean(),
    expiresAt: Instant,
    lastUsedAt: Nullable(Instant),
  },
  closed,
);
export type AccessOfProgram = Static<typeof AccessOfProgram>;

export const AccessReply = Type.Object(
  { at: Instant, people: Type.Array(AccessOfPerson), programs: Type.Array(AccessOfProgram) },
  closed,
);
export type AccessReply = Static<typeof AccessReply>;
