/** `stage`, `sign`, `pull-token`: what a member needs before it starts. */
import { type Static, Type } from "typebox";
import { Id } from "./agent-fields.ts";
import { Fence } from "./fence.ts";
import { closed } from "../closed.ts";

export const StageRequest = Type.Object({ nodeEpoch: Fence, member: Id, fence: Fence }, closed);
export type StageRequest = Static<typeof StageRequest>;
/** One presigned GET for each input of the member, bound to its versionId. */
export const StageReply = Type.Object(
  {
    urls: Type.Array(Type.Object({ id: Id, url: Type.String() }, closed)),
    expiresInS: Type.Number(),
  },
  closed,
);
export type StageReply = Static<typeof StageReply>;

/** Certificates for keys made on the node. `admin` (the job's submitter) is for the server's node alone. */
export const SignRequest = Type.Object(
  {
    nodeEpoch: Fence,
    member: Id,
    fence: Fence,
    identity: Type.Union([Type.Literal("member"), Type.Literal("admin")]),
    /** PKCS#10 request, PEM. Its subject is ignored: names come from the attempt. */
    csr: Type.String({ maxLength: 16_384 }),
  },
  closed,
);
export type SignRequest = Static<typeof SignRequest>;
/** Leaf certificate and the attempt's root, PEM. */
export const SignReply = Type.Object({ cert: Type.String(), rootCert: Type.String() }, closed);
export type SignReply = Static<typeof SignReply>;

export const PullTokenRequest = Type.Object({ nodeEpoch: Fence, member: Id, fence: Fence }, closed);
export type PullTokenRequest = Static<typeof PullTokenRequest>;
/** User name and one-use password for `X-Registry-Auth`; the registry's token realm exchanges them. */
export const PullTokenReply = Type.Object(
  { username: Type.String(), password: Type.String() },
  closed,
);
export type PullTokenReply = Static<typeof PullTokenReply>;
