/** `trial`: with which image a worker is tried before it takes work; and what the agent then tells whoever installs the node. */
import { type Static, Type } from "typebox";
import { Id } from "./agent-fields.ts";
import { Fence } from "./fence.ts";
import { closed } from "../closed.ts";

export const TrialRequest = Type.Object({ nodeEpoch: Fence, worker: Id }, closed);
export type TrialRequest = Static<typeof TrialRequest>;
/** The image that a job on this worker would run, with a one-use password for it; or why there is none. */
export const TrialReply = Type.Object(
  {
    pull: Type.Union([
      Type.Object(
        {
          /** `<registry>/<repository>@sha256:<digest>` */
          image: Type.String({ maxLength: 512 }),
          username: Type.String({ maxLength: 256 }),
          password: Type.String({ maxLength: 256 }),
        },
        closed,
      ),
      Type.Null(),
    ]),
    /** An end of "the worker is one …"; null where there is an image. */
    noImage: Type.Union([Type.String({ maxLength: 512 }), Type.Null()]),
  },
  closed,
);
export type TrialReply = Static<typeof TrialReply>;

/** `due`: it runs or will; `none`: the appliance has no image for the worker. */
export const WorkerTrial = Type.Object(
  {
    worker: Id,
    state: Type.Union([
      Type.Literal("due"),
      Type.Literal("passed"),
      Type.Literal("failed"),
      Type.Literal("none"),
    ]),
    /** Why it failed, or why there is none; for people. */
    why: Type.Union([Type.String({ maxLength: 512 }), Type.Null()]),
    image: Type.Union([Type.String({ maxLength: 512 }), Type.Null()]),
  },
  closed,
);
export type WorkerTrial = Static<typeof WorkerTrial>;
