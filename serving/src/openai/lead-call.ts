/** One call to a replica and back, piece by piece. Who hangs up ends the engine's work at once. */
import { once } from "node:events";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import {
  OPENAI_PATH,
  OPENAI_SILENT_MS,
  type OpenAiCall,
} from "@resontech/contracts/openai-surface";
import type { Replica } from "../admission.ts";
import type { CallEnded } from "../records/call-line.ts";
import type { Place } from "../place.ts";
import { Tally } from "../records/tally.ts";
import type { ReplicaPool } from "../replica-pool.ts";
import { AnswerUsage } from "./answer-usage.ts";
import { engineRefusal } from "./engine-refusal.ts";
import { errorBody, OpenAiError, type OpenAiRefusal } from "./openai-error.ts";
import type { OpenAiRequest } from "./request-body.ts";
import { StreamEvents } from "./stream-events.ts";

/** Of a client that takes nothing of what is there for it. */
const UNDRAINED_MS = 60_000;
/** What of an answer is the replica's to say. */
const PASSED_HEADERS = ["content-type", "content-length", "x-replica-id"] as const;
const MAX_REFUSAL_BYTES = 64 * 1024;
const TOO_LATE: OpenAiRefusal = {
  ...{ status: 504, type: "server_error", code: "timeout", isBegun: true },
  message: `the engine said nothing for ${OPENAI_SILENT_MS / 1_000} s`,
};
const GONE: OpenAiRefusal = {
  ...{ status: 502, type: "server_error", code: "replica_unreachable", retryAfterS: 1 },
  message: "the replica went away",
};

/** The audit log does not answer. */
export const NOT_RECORDED: OpenAiRefusal = {
  ...{ status: 503, type: "server_error", code: "audit_unavailable", retryAfterS: 5 },
  message: "the call can't be put on record now",
};

export type LedCall = {
  call: OpenAiCall;
  asked: OpenAiRequest;
  place: Place;
  response: ServerResponse;
};

/** How a call went, for its record. */
export type CallEnd = Omit<CallEnded, "kind" | "id" | "at"> & {
  /** For the log alone. */
  error?: unknown;
};

export type CallSteps = {
  /** Begins once an engine has the call, and is awaited before the first byte of an answer. @throws where the call can't be put on record */
  begin: () => Promise<void>;
  /** The engine's answer is there, and may leave. */
  answering: () => void;
  /** Called once, before {@link leadCall} returns or throws. */
  end: (end: CallEnd) => void;
};

/**
 * Answers the client in all cases but one: an error before the first byte is thrown, so that it is told in the API's form.
 * @throws OpenAiError
 */
export async function leadCall(pool: ReplicaPool, led: LedCall, steps: CallSteps): Promise<void> {
  const { response } = led;
  let engine: ClientRequest | null = null;
  const gone = new AbortController();
  const onClose = () => {
    gone.abort();
    engine?.destroy();
  };
  response.once("close", onClose);
  let isLate = false;
  const silence = setTimeout(() => {
    isLate = true;
    engine?.destroy();
  }, OPENAI_SILENT_MS);
  const passing = makePassing(led);
  const got = new Tally();
  let status: number | null = null;
  let begun: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    begun ??= steps.begin().catch((error: unknown) => {
      engine?.destroy();
      end("not_recorded", error);
      throw new OpenAiError(NOT_RECORDED);
    });
    return begun;
  };
  const end = (outcome: CallEnd["outcome"], error?: unknown): void => {
    const answer = { answerSha256: got.sha256, answerBytes: got.bytes };
    steps.end({ status, outcome, ...answer, usage: passing.usage(), error });
  };
  try {
    const from = await led.place.reach(async (replica) => {
      gone.signal.throwIfAborted();
      engine = openEngine(pool, led, replica);
      const answered = once(engine, "response") as Promise<[IncomingMessage]>;
      await Promise.race([once(engine, "socket"), answered]);
      // From here on no other replica takes it: the record is made while the engine works.
      begin().catch(() => {});
      const [answer] = await answered;
      return answer;
    });
    await begin();
    steps.answering();
    status = from.statusCode ?? 502;
    if (status >= 400) {
      const refusal = engineRefusal(status, await refusalText(from));
      end("answered");
      throw new OpenAiError(refusal);
    }
    if (!response.headersSent) {
      response.statusCode = status;
      for (const name of PASSED_HEADERS) {
        const value = from.headers[name];
        if (value !== undefined) response.setHeader(name, value);
      }
      if (led.asked.isStream) response.setHeader("cache-control", "no-cache");
    }
    for await (const piece of from) {
      silence.refresh();
      const passed = passing.take(piece as Buffer);
      got.add(passed);
      await write(response, passed, gone.signal);
    }
    if (!passing.isWhole()) throw new Error("the stream ended before the engine's word for it");
    response.end();
    end("answered");
  } catch (error) {
    if (error instanceof OpenAiError) throw error;
    await begin();
    const outcome = gone.signal.aborted ? "client_gone" : isLate ? "timeout" : "replica_gone";
    end(outcome, error);
    if (outcome !== "client_gone") endBroken(led, isLate);
  } finally {
    clearTimeout(silence);
    response.off("close", onClose);
  }
}

function openEngine(pool: ReplicaPool, { call, asked }: LedCall, replica: Replica): ClientRequest {
  const body = JSON.stringify(asked.body);
  const engine = pool.request(replica, {
    ...{ method: "POST", path: `${OPENAI_PATH}/${call}` },
    // Of the client's own headers none goes on.
    headers: {
      ...{ host: "replica", "content-type": "application/json" },
      "content-length": Buffer.byteLength(body),
    },
  });
  // Awaited below; one that comes later is nobody's.
  engine.on("error", () => {});
  engine.end(body);
  return engine;
}

/** How the answer goes on, and what is learned of it meanwhile. */
function makePassing({ asked }: LedCall) {
  if (asked.isStream) {
    const events = new StreamEvents(asked.wantsUsage);
    return {
      take: (piece: Buffer) => events.push(piece),
      isWhole: () => events.isDone,
      usage: () => events.usage,
    };
  }
  const answer = new AnswerUsage();
  return {
    take(piece: Buffer) {
      answer.push(piece);
      return piece;
    },
    isWhole: () => true,
    usage: () => answer.usage,
  };
}

/** @throws what `gone` or the time says, where the client takes nothing */
async function write(response: ServerResponse, piece: Buffer, gone: AbortSignal): Promise<void> {
  if (piece.length === 0 || response.write(piece)) return;
  await once(response, "drain", {
    signal: AbortSignal.any([gone, AbortSignal.timeout(UNDRAINED_MS)]),
  });
}

async function refusalText(from: IncomingMessage): Promise<string> {
  const length = Number(from.headers["content-length"] ?? Number.NaN);
  if (length <= MAX_REFUSAL_BYTES) return await text(from).catch(() => "");
  from.destroy();
  return "";
}

/**
 * @throws OpenAiError while nothing was sent; later a stream ends with the error as its last event, and any other answer is cut
 */
function endBroken({ response, asked }: LedCall, isLate: boolean): void {
  const refusal = isLate ? TOO_LATE : GONE;
  if (!response.headersSent) {
    for (const name of PASSED_HEADERS) response.removeHeader(name);
    throw new OpenAiError(refusal);
  }
  if (asked.isStream) response.end(`data: ${errorBody(refusal)}\n\n`);
  else response.destroy();
}
