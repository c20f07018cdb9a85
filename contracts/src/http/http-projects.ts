/** `/api/projects`: projects, and who is what in them. */
import { type Static, Type } from "typebox";
import { IdParam, Instant } from "./http-common.ts";
import { closed } from "../closed.ts";

/** What a project or a team is called: one line, without signs that a terminal obeys. */
export const TITLE_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]+$";
export const MAX_TITLE = 64;
/** Made where none is named. */
export const FIRST_TEAM = "research";
export const MEMBER_ROLES = ["project-lead", "researcher", "viewer"] as const;

const Title = Type.String({ minLength: 1, maxLength: MAX_TITLE, pattern: TITLE_PATTERN });
const Username = Type.String({ minLength: 1, maxLength: 64 });

export const CreateProjectBody = Type.Object(
  {
    name: Title,
    /** Made where it is not there. */
    team: Type.Optional(Title),
    /** Who leads the project first, by user name. */
    lead: Username,
  },
  closed,
);

export type CreateProjectBody = Static<typeof CreateProjectBody>;

export const ProjectReply = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    /** Left out for a user's own first project. */
    team: Type.Optional(Type.String()),
    isDefault: Type.Boolean(),
    /** Outputs of its jobs are read by approval alone. */
    exportsByApproval: Type.Boolean(),
    /** A job whose model has a weight that is no number fails. */
    refusesNonFinite: Type.Boolean(),
    createdAt: Instant,
  },
  closed,
);
export type ProjectReply = Static<typeof ProjectReply>;

export const MemberBody = Type.Object(
  { username: Username, role: Type.Enum([...MEMBER_ROLES]) },
  closed,
);

export const MemberReply = Type.Object(
  {
    userId: Type.String(),
    username: Type.String(),
    role: Type.Enum([...MEMBER_ROLES]),
    since: Instant,
  },
  closed,
);
export type MemberReply = Static<typeof MemberReply>;

/** Whether outputs of the project's jobs leave by approval alone. */
export const ExportsBody = Type.Object({ byApproval: Type.Boolean() }, closed);

/** Whether a model with a weight that is NaN or infinite fails its job. */
export const ModelsBody = Type.Object({ refusesNonFinite: Type.Boolean() }, closed);

/** From somebody who left or was disabled, to a lead or researcher of the project. */
export const HandoverBody = Type.Object({ from: IdParam, to: IdParam }, closed);
export const HandoverReply = Type.Object({ jobs: Type.Integer() }, closed);
export type HandoverReply = Static<typeof HandoverReply>;
