/** An answer that is to be posted: what stands on the disk beside its body. The secret that signs it does not. */
import { type Static, Type } from "typebox";
import { reader } from "@resontech/contracts/readable";

const Text = Type.String({ minLength: 1, maxLength: 256 });
const Count = Type.Integer({ minimum: 0 });

export const Callback = Type.Object(
  {
    formatVersion: Type.Literal(1),
    /** Of the call: the same however often it is posted. */
    id: Type.String({ pattern: "^[0-9a-f-]{36}$" }),
    url: Type.String({ maxLength: 8_192 }),
    deployment: Text,
    project: Text,
    /** As the caller named the request. */
    requestId: Text,
    /** Of the answer. */
    status: Type.Integer({ minimum: 100, maximum: 599 }),
    contentType: Type.String({ maxLength: 256 }),
    /** Seconds since 1970 when the answer was made. */
    timestamp: Count,
    signature: Type.String({ pattern: "^v1=[0-9a-f]{64}$" }),
    bytes: Count,
    tries: Count,
    /** Milliseconds since 1970: not before. */
    nextAt: Count,
  },
  { additionalProperties: false },
);
export type Callback = Static<typeof Callback>;
/** Null for what is none. */
export const readCallback = reader(Callback);
