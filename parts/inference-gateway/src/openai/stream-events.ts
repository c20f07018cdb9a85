/** Pure: events of a stream that passes by in pieces, without the usage that the client did not ask for, and with errors in the API's own words. */
import { engineRefusal } from "./engine-refusal.ts";
import { errorBody } from "./openai-error.ts";
import { type Usage, usageOf } from "../openai-surface/usage.ts";

/** Of one event. */
const MAX_EVENT_BYTES = 1024 ** 2;
const END = Buffer.from("\n\n");
const DATA = "data: ";
const DONE = `${DATA}[DONE]`;
/** What a chunk with something of the model's has. */
const OF_MODEL = /"(?:content|reasoning_content|reasoning|text|arguments)":"/;

export class StreamEvents {
  readonly #passesUsage: boolean;
  #pending: Buffer = Buffer.alloc(0);
  #usage: Usage | null = null;
  #seen = 0;
  #isDone = false;

  /** @param passesUsage the client asked for it */
  constructor(passesUsage: boolean) {
    this.#passesUsage = passesUsage;
  }

  /** The engine has said that the stream is whole. */
  get isDone(): boolean {
    return this.#isDone;
  }

  get usage(): Usage {
    return this.#usage ?? { promptTokens: null, completionTokens: this.#seen, isExact: false };
  }

  /**
   * What goes on to the client; an event that is not whole waits for its end.
   * @throws Error when an event is longer than any engine makes it
   */
  push(piece: Buffer): Buffer {
    const whole = Buffer.concat([this.#pending, piece]);
    const passed: Buffer[] = [];
    let from = 0;
    // What comes after the engine's last word is nobody's.
    for (let end = whole.indexOf(END); end >= 0 && !this.#isDone; end = whole.indexOf(END, from)) {
      const event = whole.subarray(from, end + END.length);
      from = end + END.length;
      const text = event.toString("utf8");
      const refusal = refusalOf(text);
      if (refusal !== null) passed.push(refusal);
      else if (this.#passes(text)) passed.push(event);
    }
    this.#pending = whole.subarray(from);
    if (this.#pending.length > MAX_EVENT_BYTES) throw new Error("an event of a stream has no end");
    return Buffer.concat(passed);
  }

  #passes(event: string): boolean {
    if (event.trimEnd() === DONE) this.#isDone = true;
    if (OF_MODEL.test(event)) this.#seen += 1;
    if (!event.startsWith(DATA) || !event.includes('"usage"')) return true;
    const { usage, choices } = chunkOf(event);
    const told = usageOf(usage);
    if (told === null) return true;
    this.#usage = told;
    return this.#passesUsage || !Array.isArray(choices) || choices.length > 0;
  }
}

/** An engine that fails over a stream says so in it; null for any other event. */
function refusalOf(event: string): Buffer | null {
  if (!event.startsWith(DATA) || !event.includes('"error"')) return null;
  const { error } = chunkOf(event);
  if (typeof error !== "object" || error === null) return null;
  const { code } = error as { code?: unknown };
  const status = typeof code === "number" && code >= 400 && code < 600 ? code : 500;
  return Buffer.from(
    `${DATA}${errorBody(engineRefusal(status, JSON.stringify({ error })))}${END.toString()}`,
  );
}

function chunkOf(event: string): { usage?: unknown; choices?: unknown; error?: unknown } {
  try {
    const chunk: unknown = JSON.parse(event.slice(DATA.length));
    return typeof chunk === "object" && chunk !== null ? chunk : {};
  } catch {
    return {};
  }
}
