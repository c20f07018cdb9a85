/** One call of a predictor, or of a program of the deployment's own: on record before the first byte of its answer leaves; how it ended follows. */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { CONTAINER_SILENT_MS } from "@resontech/contracts/container-spec";
import { PREDICT_MS } from "@resontech/contracts/predictor-spec";
import type { Logger } from "pino";
import type { Callbacks } from "./callbacks/callbacks.ts";
import { CALLBACKS_FULL, type CallbackRequest } from "./callbacks/request-callback.ts";
import { type AskedOf, Exchange } from "./exchange.ts";
import type { ShownKey } from "./may-call.ts";
import { readNamedUrl } from "./named-url.ts";
import type { CountedCall } from "./numbers/gateway-numbers.ts";
import { fetchUrl } from "./outbound/fetch-url.ts";
import { OutboundError } from "./outbound/outbound-error.ts";
import type { Outbound } from "./outbound/outbound.ts";
import type { Place } from "./place.ts";
import type { CallOutcome, OutLine } from "./records/call-line.ts";
import type { CallRecorder } from "./records/call-recorder.ts";
import { Tally } from "./records/tally.ts";
import type { ReplicaPool } from "./replica-pool.ts";
import { NOT_RECORDED, type Refusal, refusalText, refuse } from "./refuse.ts";
import { bodyOf, MAX_BODY_BYTES, type ReplicaBody } from "./replica-body.ts";

type Parts = {
  pool: ReplicaPool;
  records: Pick<CallRecorder, "begin" | "note" | "end">;
  outbound: Pick<Outbound, "source" | "open">;
  callbacks: Pick<Callbacks, "keep">;
  log: Logger;
};

export type Led = {
  request: IncomingMessage;
  response: ServerResponse;
  place: Place;
  shown: ShownKey;
  counted: CountedCall;
  asked: AskedOf;
  /** Whom the answer is posted to as well. */
  callback: CallbackRequest | null;
};

/** @returns how the call went; null where no replica was asked */
export async function leadPredict(parts: Parts, led: Led): Promise<CallOutcome | null> {
  const { request, response } = led;
  const id = randomUUID();
  const isOwn = led.place.route.api === "own";
  using exchange = new Exchange(parts.pool, {
    ...{ request, response, isOfSilence: isOwn },
    limitMs: isOwn ? CONTAINER_SILENT_MS : PREDICT_MS,
  });
  const found = await findBody(parts, led, { id, exchange });
  if ("body" in found) return await leadBody(parts, led, { id, exchange, body: found.body });
  if (!response.destroyed) refuse(request, response, found.refusal, exchange.requestId);
  return null;
}

type Begun = { id: string; exchange: Exchange };

/** The caller's own body, or what it names. */
async function findBody(
  { records, outbound, log }: Parts,
  { request, place }: Led,
  { id, exchange }: Begun,
): Promise<{ body: ReplicaBody } | { refusal: Refusal }> {
  const { deployment, project, api } = place.route;
  if (api !== "predict") return { body: bodyOf(request) };
  const signal = exchange.over;
  try {
    const named = await readNamedUrl(request, signal);
    if ("body" in named) return named;
    const target = outbound.source(named.url);
    const out = () =>
      ({
        ...{ kind: "out", id, at: new Date().toISOString(), deployment, project },
        ...{ purpose: "fetch", to: `${target.host}:${target.port}` },
      }) as const satisfies Partial<OutLine>;
    const urlSha256 = createHash("sha256").update(named.url).digest("hex");
    try {
      await records.note({ ...out(), step: "begun", urlSha256 });
    } catch (err) {
      log.warn({ err }, "a fetch could not be put on record");
      return { refusal: NOT_RECORDED };
    }
    try {
      return { body: await fetchUrl(outbound, target, { maxBytes: MAX_BODY_BYTES, signal }) };
    } catch (error) {
      const result = error instanceof OutboundError ? error.code : "timeout";
      records
        .note({ ...out(), step: "ended", result, tries: 1 })
        .catch((err: unknown) => log.warn({ err }, "the end of a fetch is not on record"));
      throw error;
    }
  } catch (error) {
    if (error instanceof OutboundError) {
      log.info({ err: error, call: id }, "a url was not fetched");
      return { refusal: error.refusal };
    }
    if (exchange.isLate || exchange.isClientGone || request.errored !== null)
      return { refusal: exchange.refusal };
    throw error;
  }
}

async function leadBody(
  parts: Parts,
  led: Led,
  { id, exchange, body }: Begun & { body: ReplicaBody },
): Promise<CallOutcome> {
  const { records, log } = parts;
  const { response, place, shown, counted, asked } = led;
  const [sent, got] = [new Tally(), new Tally()];
  let outcome: CallOutcome = "answered";
  let refusal: Refusal | null = null;
  const broken = (err: unknown): null => {
    const source = body.failure();
    refusal = exchange.refusal;
    if (exchange.isLate) outcome = "timeout";
    else if (exchange.isClientGone) outcome = "client_gone";
    else if (source === null) outcome = "replica_gone";
    else [outcome, refusal] = ["source_gone", source.refusal];
    if (outcome !== "client_gone") log.warn({ err, member: place.replica.member }, outcome);
    return null;
  };
  let begun: Promise<void> | null = null;
  // As soon as the replica has the whole of it, so that the record is made while the replica works.
  const begin = (): Promise<void> => {
    const { route, replica } = place;
    begun ??= records.begin({
      ...{ kind: "call", id, at: new Date().toISOString() },
      call: route.api === "own" ? "own" : "predict",
      ...{ deployment: route.deployment, project: route.project, replica: replica.member },
      keySha256: shown.sha256,
      ...{ requestSha256: sent.sha256, requestBytes: sent.bytes },
    });
    return begun;
  };
  const from = await place
    .reach((replica) =>
      exchange.ask(replica, asked, asked.method === "POST" ? { body, tally: sent } : null, () => {
        begin().catch(() => {});
      }),
    )
    .catch(broken);
  try {
    await begin();
    if (from !== null) place.noteAnswer();
    counted.answering();
    if (from !== null) await handOn(parts, led, { id, exchange, from, got }).catch(broken);
    if (refusal !== null && !response.destroyed)
      await tellRefusal(parts, led, { id, exchange, refusal });
  } catch (err) {
    log.warn({ err }, "a call could not be put on record");
    outcome = "not_recorded";
    from?.destroy();
    if (!response.destroyed) refuse(led.request, response, NOT_RECORDED, exchange.requestId);
  }
  records.end({
    ...{ kind: "end", id, at: new Date().toISOString(), outcome },
    status: response.headersSent ? response.statusCode : null,
    ...{ answerSha256: got.sha256, answerBytes: got.bytes, usage: null },
  });
  return outcome;
}

/** An answer that is to be posted is kept before its caller has a byte of it: whoever has the answer knows that it will be posted. @throws what broke */
async function handOn(
  parts: Parts,
  led: Led,
  { id, exchange, from, got }: Begun & { from: IncomingMessage; got: Tally },
): Promise<void> {
  if (led.callback === null) return await exchange.handOn(from, got);
  if (from.destroyed) throw new Error("the replica broke off its answer", { cause: from.errored });
  const status = from.statusCode ?? 502;
  const contentType = from.headers["content-type"] ?? "application/octet-stream";
  const kept = await keep(parts, led, { id, exchange, status, contentType, body: from }).catch(
    (error: unknown) => {
      if (exchange.isLate || exchange.isClientGone || from.errored !== null) throw error;
      parts.log.warn({ err: error, call: id }, "an answer could not be kept to be posted");
      return null;
    },
  );
  if (kept === null) refuse(led.request, led.response, CALLBACKS_FULL, exchange.requestId);
  else await exchange.handOnKept(from, kept, got);
}

/** What broke when the answer had begun ends as it stands. What its caller is told instead of an answer is posted as well. */
async function tellRefusal(
  parts: Parts,
  led: Led,
  { id, exchange, refusal }: Begun & { refusal: Refusal },
): Promise<void> {
  const { request, response, callback } = led;
  if (response.headersSent) return void response.destroy();
  if (callback !== null) {
    const body = Readable.from([Buffer.from(refusalText(refusal, exchange.requestId))]);
    const contentType = "application/json";
    const answer = { id, exchange, status: refusal.status, contentType, body };
    const kept = await keep(parts, led, answer).catch((err: unknown) => {
      parts.log.warn({ err, call: id }, "a refusal could not be kept to be posted");
      return null;
    });
    kept?.destroy();
  }
  if (!response.destroyed) refuse(request, response, refusal, exchange.requestId);
}

/** @returns the body once more @throws what broke, and CallbacksFull */
async function keep(
  { callbacks }: Parts,
  { place, callback }: Led,
  answer: Begun & { status: number; contentType: string; body: Readable },
): Promise<Readable> {
  const { id, exchange, status, contentType, body } = answer;
  const { deployment, project } = place.route;
  const { url, secret } = callback!;
  return await callbacks.keep(
    {
      ...{ id, url, deployment, project, requestId: exchange.requestId, status, contentType },
      timestamp: Math.floor(Date.now() / 1_000),
    },
    ...([secret, body] as const),
  );
}
