/** One call to a replica and back, piece by piece. Who hangs up ends the engine's work at once. */
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
import type { AnswerForm } from "./answer-form.ts";
import { AnswerUsage } from "./answer-usage.ts";
import { engineRefusal } from "./engine-refusal.ts";
import { errorBody, OpenAiError, type OpenAiRefusal } from "./openai-error.ts";
import type { OpenAiRequest } from "./request-body.ts";
import { StreamEvents } from "./stream-events.ts";
import type { Usage } from "../openai-surface/usage.ts";

/** Of a client that takes nothing of what is there for it. */
const UNDRAINED_MS = 60_000;
/** What of an answer is the replica's to say. */
const PASSED_HEADERS = ["content-type", "content-length", "x-replica-id"] as const;
/** Of an answer that is made anew, and so is there as a whole. */
const MAX_REMADE_BYTES = 64 * 1024 ** 2;
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
  let isGone = false;
  const onClose = () => {
    // An answer that has gone whole closes as well, and its engine's connection is good for the next call.
    if (response.writableFinished) return;
    isGone = true;
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
  let isEnded = false;
  const end = (outcome: CallEnd["outcome"], error?: unknown): void => {
    if (isEnded) return;
    isEnded = true;
    const answer = { answerSha256: got.sha256, answerBytes: got.bytes };
    steps.end({ status, outcome, ...answer, usage: passing.usage(), error });
  };
  try {
    const from = await led.place.reach(async (replica) => {
      if (isGone) throw hungUp();
      engine = openEngine(pool, led, replica);
      // The record is made while the engine works.
      return await answerOf(engine, () => void begin().catch(() => {}));
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
        const isRemade = led.asked.form !== undefined && name === "content-length";
        if (value !== undefined && !isRemade) response.setHeader(name, value);
      }
      if (led.asked.isStream) response.setHeader("cache-control", "no-cache");
    }
    const length = led.asked.isStream ? null : Number(from.headers["content-length"]);
    let came = 0;
    await eachPiece(from, (piece) => {
      silence.refresh();
      came += piece.length;
      const taken = passing.take(piece);
      const isLast = led.asked.isStream ? passing.isWhole() : came === length;
      const passed = isLast ? Buffer.concat([taken, passing.rest()]) : taken;
      got.add(passed);
      if (response.writableEnded) return null;
      if (!isLast) return write(response, passed);
      // Known before its last piece leaves: whoever has a whole answer is charged for a whole one, though the gateway is killed right then.
      end("answered");
      // The last piece and the end go as one.
      response.end(passed);
      return null;
    });
    if (!passing.isWhole()) throw new Error("the stream ended before the engine's word for it");
    const rest = passing.rest();
    got.add(rest);
    end("answered");
    if (!response.writableEnded) response.end(rest);
  } catch (error) {
    if (error instanceof OpenAiError) throw error;
    // Its client has all of it.
    if (isEnded) return;
    await begin();
    const outcome = isGone ? "client_gone" : isLate ? "timeout" : "replica_gone";
    end(outcome, error);
    if (outcome !== "client_gone") endBroken(led, isLate, passing.broken);
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

/** @param taken called once there is somebody to take the request: from there on no other replica takes it */
function answerOf(engine: ClientRequest, taken: () => void): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Not before the request has gone: it is written after this event.
    engine.once("socket", () => queueMicrotask(taken));
    engine.once("response", resolve).once("error", reject);
  });
}

/**
 * Hands on each piece of an answer as it comes.
 * @param take null where the next piece may come at once; else it waits
 * @throws what broke the answer off, or `take` threw
 */
function eachPiece(
  from: IncomingMessage,
  take: (piece: Buffer) => Promise<void> | null,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      from.destroy();
      reject(error);
    };
    const cut = (): void => {
      if (!from.readableEnded) reject(new Error("the engine broke off its answer"));
    };
    // It may have broken off while the call was put on record.
    if (from.destroyed) return cut();
    from.once("end", resolve).once("error", reject).once("close", cut);
    from.on("data", (piece: Buffer) => {
      try {
        const taken = take(piece);
        if (taken === null) return;
        from.pause();
        taken.then(() => from.resume(), fail);
      } catch (error) {
        fail(error);
      }
    });
  });
}

/** How the answer goes on, and what is learned of it meanwhile. */
type Passing = {
  take: (piece: Buffer) => Buffer;
  /** What is left once all has been taken; nothing the second time. */
  rest: () => Buffer;
  isWhole: () => boolean;
  usage: () => Usage | null;
  /** The last event of a stream that breaks off. */
  broken: (refusal: OpenAiRefusal) => string;
};

const NOTHING = Buffer.alloc(0);

function makePassing({ asked: { form, isStream, wantsUsage } }: LedCall): Passing {
  const inChat = (refusal: OpenAiRefusal) => `data: ${errorBody(refusal)}\n\n`;
  if (isStream) {
    const events = new StreamEvents(wantsUsage);
    const remade = form?.events();
    return {
      take: (piece) => {
        const passed = events.push(piece);
        return remade === undefined ? passed : Buffer.from(remade.push(passed.toString("utf8")));
      },
      rest: () => NOTHING,
      isWhole: () => events.isDone,
      usage: () => events.usage,
      broken: remade === undefined ? inChat : (refusal) => remade.broken(refusal),
    };
  }
  const answer = new AnswerUsage();
  const kept = form === undefined ? null : new WholeAnswer(form);
  return {
    take(piece) {
      answer.push(piece);
      return kept === null ? piece : kept.take(piece);
    },
    rest: () => kept?.rest() ?? NOTHING,
    isWhole: () => true,
    usage: () => answer.usage,
    broken: inChat,
  };
}

/** One that is made anew once all of it is there. */
class WholeAnswer {
  readonly #form: AnswerForm;
  #pieces: Buffer[] = [];
  #size = 0;

  constructor(form: AnswerForm) {
    this.#form = form;
  }

  /** @throws Error when it is longer than any engine makes it */
  take(piece: Buffer): Buffer {
    this.#size += piece.length;
    if (this.#size > MAX_REMADE_BYTES) throw new Error("an answer has no end");
    this.#pieces.push(piece);
    return NOTHING;
  }

  /** @throws Error when it is no JSON */
  rest(): Buffer {
    if (this.#pieces.length === 0) return NOTHING;
    const text = Buffer.concat(this.#pieces).toString("utf8");
    this.#pieces = [];
    return Buffer.from(JSON.stringify(this.#form.whole(JSON.parse(text))));
  }
}

/** Writes a piece. Null where the client takes more at once; else resolves when it does. */
function write(response: ServerResponse, piece: Buffer): Promise<void> | null {
  return piece.length === 0 || response.write(piece) ? null : drained(response);
}

/** @throws where the client hangs up, or takes nothing for too long */
function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.reject(hungUp());
  return new Promise((resolve, reject) => {
    const settle = (error: Error | null): void => {
      clearTimeout(late);
      response.off("drain", taken).off("close", cut);
      if (error === null) resolve();
      else reject(error);
    };
    const taken = () => settle(null);
    const cut = () => settle(hungUp());
    const late = setTimeout(
      () => settle(new Error("the client takes nothing of its answer")),
      UNDRAINED_MS,
    );
    response.once("drain", taken).once("close", cut);
  });
}

function hungUp(): Error {
  return new Error("the client hung up");
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
function endBroken({ response, asked }: LedCall, isLate: boolean, broken: Passing["broken"]): void {
  const refusal = isLate ? TOO_LATE : GONE;
  if (!response.headersSent) {
    for (const name of PASSED_HEADERS) response.removeHeader(name);
    throw new OpenAiError(refusal);
  }
  if (asked.isStream) response.end(broken(refusal));
  else response.destroy();
}
