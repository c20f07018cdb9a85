/** Lines of the gateway's journal of calls. What was sent and answered stands there as digests alone. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";

const closed = { additionalProperties: false } as const;
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Id = Type.String({ minLength: 1, maxLength: 128 });
const At = Type.String({ maxLength: 32 });
const Count = Type.Integer({ minimum: 0 });

/** How a call ended. `gateway_ended`: nobody saw it, the gateway was killed before. `source_gone`: of a `url`, whose bytes broke off. */
export const CALL_OUTCOMES = [
  "answered",
  "client_gone",
  "timeout",
  "replica_gone",
  "source_gone",
  "not_recorded",
  "gateway_ended",
] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/** Durable in the audit log before the first byte of the answer leaves. */
export const CallBegun = Type.Object(
  {
    kind: Type.Literal("call"),
    id: Id,
    at: At,
    deployment: Id,
    /** `predict`, the path below `/v1/`, or `own`: a program of the deployment's own. */
    call: Id,
    project: Id,
    /** Member of the kernel that was called. */
    replica: Id,
    /** Of the key that was shown. */
    keySha256: Sha256,
    /** Of what was sent until the answer began. */
    requestSha256: Sha256,
    requestBytes: Count,
  },
  closed,
);
export type CallBegun = Static<typeof CallBegun>;

export const CallEnded = Type.Object(
  {
    kind: Type.Literal("end"),
    /** Of the call. */
    id: Id,
    at: At,
    outcome: Type.Enum([...CALL_OUTCOMES]),
    /** HTTP status of the answer; null where none began. */
    status: Type.Union([Type.Integer({ minimum: 100, maximum: 599 }), Type.Null()]),
    /** Of what was handed on of the answer's body. */
    answerSha256: Sha256,
    answerBytes: Count,
    /** Of a model that counts tokens; null where nothing was told. */
    usage: Type.Union([
      Type.Object(
        {
          /** Null where the call ended before the engine told. */
          promptTokens: Type.Union([Count, Type.Null()]),
          completionTokens: Count,
          /** The engine's own word; else what was seen of a stream that ended early: a lower bound. */
          isExact: Type.Boolean(),
        },
        closed,
      ),
      Type.Null(),
    ]),
  },
  closed,
);
export type CallEnded = Static<typeof CallEnded>;

const out = {
  kind: Type.Literal("out"),
  /** Of the call that it is for. */
  id: Id,
  at: At,
  deployment: Id,
  project: Id,
  purpose: Type.Enum(["fetch", "callback"]),
  /** `host:port`. */
  to: Type.String({ minLength: 1, maxLength: 264 }),
};
/** The gateway dials somebody outside of the appliance: durable in the audit log before that. */
export const OutBegun = Type.Object(
  { ...out, step: Type.Literal("begun"), urlSha256: Sha256 },
  closed,
);
export type OutBegun = Static<typeof OutBegun>;
export const OutEnded = Type.Object(
  {
    ...out,
    step: Type.Literal("ended"),
    /** `done`, or how it failed for good. */
    result: Type.String({ minLength: 1, maxLength: 64 }),
    /** How often it was tried, earlier lives of the gateway included. */
    tries: Count,
  },
  closed,
);
export type OutEnded = Static<typeof OutEnded>;
export type OutLine = OutBegun | OutEnded;

/** Stands before the lines that it counts. */
export const BatchHead = Type.Object(
  {
    kind: Type.Literal("batch"),
    id: Id,
    at: At,
    lines: Count,
    /** RFC 6962 over the lines, each without its line break. */
    root: Sha256,
  },
  closed,
);
export type BatchHead = Static<typeof BatchHead>;

export type CallLine = CallBegun | CallEnded | OutLine;
const isLine = Compile(Type.Union([CallBegun, CallEnded, OutBegun, OutEnded, BatchHead]));

/** Reads one line; null for what is no line of a journal: a write that was cut leaves one at the end. */
export function readCallLine(text: string): CallLine | BatchHead | null {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return null;
  }
  return isLine.Check(said) ? said : null;
}
