/** Models of the appliance's hub: `/api/hub/models`, and what of Hugging Face's API their client asks. */
import { type Static, Type } from "typebox";
import { Instant } from "./http-common.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

/** As Hugging Face has names: `organisation/model`, parts of letters, digits, `-`, `_` and `.`. */
const PART = "[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?";
export const ModelPart = Type.String({ pattern: `^${PART}$`, maxLength: 96 });
export const ModelName = Type.String({ pattern: `^${PART}/${PART}$`, maxLength: 96 });
/** A name that people give, or the 40 digits that the appliance makes of the content. */
export const ModelRevision = Type.String({ pattern: `^${PART}$`, maxLength: 96 });
/** What clients ask for where nobody names one. */
export const DEFAULT_REVISION = "main";

export const MODEL_STATES = ["CHECKING", "READY", "FAILED"] as const;

export const AddModelBody = Type.Object(
  {
    name: ModelName,
    revision: Type.Optional(ModelRevision),
    /** As SPDX has it, or in the words of whoever made the model. */
    licence: Type.String({ minLength: 1, maxLength: 200 }),
    path: Type.String({
      minLength: 2,
      maxLength: 1_024,
      description: "A folder or a file of the project's bucket, with a leading slash",
    }),
  },
  closed,
);
export type AddModelBody = Static<typeof AddModelBody>;

export const ModelRow = Type.Object(
  {
    name: Type.String(),
    revision: Type.String(),
    /** Null until the digests of all files are known. */
    commit: Nullable(Type.String()),
    licence: Type.String(),
    projectId: Type.String(),
    state: Type.Enum([...MODEL_STATES]),
    /** Why it is FAILED. */
    why: Nullable(Type.String()),
    files: Type.Integer({ minimum: 0 }),
    sizeBytes: Type.Integer({ minimum: 0 }),
    createdAt: Instant,
  },
  closed,
);
export type ModelRow = Static<typeof ModelRow>;

export const ModelReply = Type.Object(
  {
    ...ModelRow.properties,
    content: Type.Array(
      Type.Object(
        {
          path: Type.String(),
          sizeBytes: Type.Integer({ minimum: 0 }),
          sha256: Nullable(Type.String()),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type ModelReply = Static<typeof ModelReply>;

export const ModelListReply = Type.Object({ models: Type.Array(ModelRow) }, closed);
export type ModelListReply = Static<typeof ModelListReply>;

/** Of `GET /api/models/{name}/revision/{revision}`. */
export const RepositoryReply = Type.Object(
  {
    id: Type.String(),
    modelId: Type.String(),
    sha: Type.String(),
    private: Type.Boolean(),
    tags: Type.Array(Type.String()),
    siblings: Type.Array(Type.Object({ rfilename: Type.String() }, closed)),
  },
  closed,
);
/** Of `GET /api/models`. A filter that the hub knows nothing of is refused. */
export const RepositoryQuery = Type.Object(
  {
    /** What comes before the slash of a name. */
    author: Type.Optional(Type.String({ maxLength: 96 })),
    /** A part of the name. */
    search: Type.Optional(Type.String({ maxLength: 96 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    /** With the names of its files. */
    full: Type.Optional(Type.Boolean()),
  },
  closed,
);
export const RepositoryListReply = Type.Array(
  Type.Object(
    {
      id: Type.String(),
      modelId: Type.String(),
      author: Type.String(),
      sha: Type.String(),
      private: Type.Boolean(),
      createdAt: Instant,
      tags: Type.Array(Type.String()),
      siblings: Type.Optional(Type.Array(Type.Object({ rfilename: Type.String() }, closed))),
    },
    closed,
  ),
);
/** Of `GET /api/whoami-v2`: whose key it is, and of which projects. */
export const WhoAmIReply = Type.Object(
  {
    type: Type.Literal("user"),
    id: Type.String(),
    name: Type.String(),
    fullname: Type.String(),
    isPro: Type.Boolean(),
    orgs: Type.Array(
      Type.Object({ type: Type.Literal("org"), id: Type.String(), name: Type.String() }, closed),
    ),
    auth: Type.Object(
      {
        type: Type.Literal("access_token"),
        accessToken: Type.Object(
          { displayName: Type.String(), role: Type.Literal("read") },
          closed,
        ),
      },
      closed,
    ),
  },
  closed,
);
/** Of `GET /api/models/{name}/tree/{revision}`. */
export const TreeReply = Type.Array(
  Type.Object(
    {
      type: Type.Literal("file"),
      path: Type.String(),
      size: Type.Integer(),
      oid: Type.String(),
      lfs: Type.Object(
        { oid: Type.String(), size: Type.Integer(), pointerSize: Type.Integer() },
        closed,
      ),
    },
    closed,
  ),
);
