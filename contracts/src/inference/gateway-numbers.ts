/** What the gateway counts of each deployment, and tells the coordinator over the socket of inference-routes.ts: all of it since the gateway began. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

/** Upper ends of the classes of a time, milliseconds; one more class has what took longer. */
export const TIME_CLASSES_MS = [
  ...[5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 60_000, 120_000],
  600_000,
] as const;

const Count = Type.Integer({ minimum: 0 });
const size = TIME_CLASSES_MS.length + 1;
const Times = Type.Object(
  {
    /** How many fell into each class, and into none below it. */
    counts: Type.Array(Count, { minItems: size, maxItems: size }),
    sumMs: Type.Number({ minimum: 0 }),
  },
  closed,
);
export type Times = Static<typeof Times>;

export const DeploymentNumbers = Type.Object(
  {
    deployment: Type.String(),
    /** Calls that came with a good key and have ended. */
    requests: Count,
    /** Those that did not end well, by HTTP status or by how they broke (call-line.ts). */
    errors: Type.Record(Type.String({ pattern: "^[a-z0-9_]{1,32}$" }), Count),
    /** From the request's head to the end of its answer. */
    duration: Times,
    /** To the first byte of an answer. */
    firstByte: Times,
    promptTokens: Count,
    completionTokens: Count,
  },
  closed,
);
export type DeploymentNumbers = Static<typeof DeploymentNumbers>;
export const NumbersReport = Type.Object({ numbers: Type.Array(DeploymentNumbers) }, closed);
export type NumbersReport = Static<typeof NumbersReport>;

/** Calls of one key at one deployment that began on one day, in UTC: all of that day, as often as it is told. */
export const UsageRow = Type.Object(
  {
    day: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" }),
    deployment: Type.String(),
    project: Type.String(),
    keySha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    calls: Count,
    /** Of them, how many have no whole answer. */
    failed: Count,
    /** Of them, those whose tokens are what was seen, a lower bound: the engine did not come to tell. */
    inexact: Count,
    promptTokens: Count,
    completionTokens: Count,
  },
  closed,
);
export type UsageRow = Static<typeof UsageRow>;
export const UsageReport = Type.Object({ usage: Type.Array(UsageRow) }, closed);
export type UsageReport = Static<typeof UsageReport>;

const Quantiles = Nullable(
  Type.Object({ p50: Type.Number(), p95: Type.Number(), p99: Type.Number() }, closed),
);
/** How a deployment does now: of the last minute, or of as much of it as was heard. */
export const DeploymentFigures = Type.Object(
  {
    /** Seconds that the rates are of; 0 where nothing was heard yet: then all of them are 0. */
    windowS: Type.Number(),
    /** Now; null where no gateway says. */
    inFlight: Nullable(Count),
    waiting: Nullable(Count),
    requestsPerSecond: Type.Number(),
    errorsPerSecond: Type.Number(),
    /** Within the window, by HTTP status or by how the call broke. */
    errors: Type.Record(Type.String(), Count),
    /** Milliseconds, read off classes; null without a call. */
    durationMs: Quantiles,
    firstByteMs: Quantiles,
    promptTokensPerSecond: Type.Number(),
    completionTokensPerSecond: Type.Number(),
  },
  closed,
);
export type DeploymentFigures = Static<typeof DeploymentFigures>;
