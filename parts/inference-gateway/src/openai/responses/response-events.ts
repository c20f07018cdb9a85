/**
 * Pure: a chat's stream as events of `/v1/responses`, in the order that OpenAI's API has: created, in progress; of each item added, its parts and pieces,
 * done; at last completed, incomplete or failed. Calls of tools may come side by side, so they are done at the end.
 */
import type { OpenAiRefusal } from "../openai-error.ts";
import { isObject } from "../is-object.ts";
import {
  callItem,
  type Item,
  messageItem,
  reasoningItem,
  reasoningOf,
  reasoningPart,
  type ResponseEnd,
  type ResponseHead,
  textOf,
  textPart,
} from "./response-of.ts";

const DATA = "data: ";
const DONE = "[DONE]";

/** One that is not done yet. `text` is what has come of it. */
type Open = { item: Item; index: number; text: string };

/** By kind of an item with text: its part, and the names of its events. */
const TEXTS = {
  message: {
    make: messageItem,
    part: textPart,
    event: "response.output_text",
    more: { logprobs: [] },
  },
  reasoning: {
    make: reasoningItem,
    part: reasoningPart,
    event: "response.reasoning_text",
    more: {},
  },
} as const;
type TextKind = keyof typeof TEXTS;

export class ResponseEvents {
  readonly #head: ResponseHead;
  readonly #output: Item[] = [];
  readonly #calls = new Map<unknown, Open>();
  #text: (Open & { kind: TextKind }) | null = null;
  #usage: unknown = null;
  #isCut = false;
  #isBegun = false;
  #isOver = false;
  #sequence = 0;

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  /** @param events whole ones of a chat, the last of which is its `[DONE]` @returns what goes on to the client */
  push(events: string): string {
    return events
      .split("\n\n")
      .filter((event) => event.startsWith(DATA))
      .map((event) => this.#take(event.slice(DATA.length).trim()))
      .join("");
  }

  /** The last event, of an answer that breaks off. */
  broken({ code, message, param }: OpenAiRefusal): string {
    if (this.#isOver) return "";
    this.#isOver = true;
    return [
      this.#begin(),
      this.#event("error", { code, message, param: param ?? null }),
      this.#event("response.failed", this.#whole("failed", { code: "server_error", message })),
    ].join("");
  }

  #take(text: string): string {
    if (this.#isOver) return "";
    if (text === DONE) return this.#end();
    const chunk = parsed(text);
    if (isObject(chunk["error"])) {
      const { code, message, param } = chunk["error"];
      return this.broken({
        ...{ status: 500, type: "server_error", code: textOf(code), message: textOf(message) },
        ...(typeof param === "string" ? { param } : {}),
      });
    }
    if (isObject(chunk["usage"])) this.#usage = chunk["usage"];
    const [choice] = Array.isArray(chunk["choices"]) ? (chunk["choices"] as unknown[]) : [];
    if (!isObject(choice)) return this.#begin();
    if (choice["finish_reason"] === "length") this.#isCut = true;
    const delta = isObject(choice["delta"]) ? choice["delta"] : {};
    const calls = Array.isArray(delta["tool_calls"]) ? (delta["tool_calls"] as unknown[]) : [];
    return [
      this.#begin(),
      this.#textPiece("reasoning", reasoningOf(delta)),
      this.#textPiece("message", textOf(delta["content"])),
      ...calls.filter(isObject).map((call) => this.#callPiece(call)),
    ].join("");
  }

  #begin(): string {
    if (this.#isBegun) return "";
    this.#isBegun = true;
    const response = this.#whole("in_progress");
    return (
      this.#event("response.created", response) + this.#event("response.in_progress", response)
    );
  }

  #textPiece(kind: TextKind, delta: string): string {
    if (delta === "") return "";
    const opened =
      this.#text?.kind === kind ? "" : this.#closeText("completed") + this.#openText(kind);
    const open = this.#text!;
    open.text += delta;
    const { event, more } = TEXTS[kind];
    return (
      opened + this.#event(`${event}.delta`, { ...placeOf(open), content_index: 0, delta, ...more })
    );
  }

  #openText(kind: TextKind): string {
    const { make, part } = TEXTS[kind];
    const open = this.#add(make(null, "in_progress"));
    this.#text = { ...open, kind };
    return (
      this.#event("response.output_item.added", { output_index: open.index, item: open.item }) +
      this.#event("response.content_part.added", {
        ...{ ...placeOf(open), content_index: 0, part: part("") },
      })
    );
  }

  #closeText(status: string): string {
    const open = this.#text;
    if (open === null) return "";
    this.#text = null;
    const { part, event, more } = TEXTS[open.kind];
    const place = { ...placeOf(open), content_index: 0 };
    return (
      this.#event(`${event}.done`, { ...place, text: open.text, ...more }) +
      this.#event("response.content_part.done", { ...place, part: part(open.text) }) +
      this.#done(open, { content: [part(open.text)], status })
    );
  }

  #callPiece(call: Record<string, unknown>): string {
    const made = isObject(call["function"]) ? call["function"] : {};
    const known = this.#calls.get(call["index"]);
    let opened = "";
    if (known === undefined) {
      const item = callItem({ id: call["id"], name: made["name"], given: "" }, "in_progress");
      opened = this.#closeText("completed");
      const open = this.#add(item);
      this.#calls.set(call["index"], open);
      opened += this.#event("response.output_item.added", { output_index: open.index, item });
    }
    const open = this.#calls.get(call["index"])!;
    const delta = textOf(made["arguments"]);
    if (delta === "") return opened;
    open.text += delta;
    return (
      opened + this.#event("response.function_call_arguments.delta", { ...placeOf(open), delta })
    );
  }

  #end(): string {
    this.#isOver = true;
    const status = this.#isCut ? "incomplete" : "completed";
    const begun = this.#begin();
    // An answer without a word is a message as well.
    const empty = this.#output.length === 0 ? this.#openText("message") : "";
    const calls = [...this.#calls.values()];
    const done = [
      this.#closeText(calls.length === 0 ? status : "completed"),
      ...calls.map((open, at) => {
        const { name } = open.item;
        return (
          this.#event("response.function_call_arguments.done", {
            ...{ ...placeOf(open), name, arguments: open.text },
          }) +
          this.#done(open, {
            arguments: open.text,
            status: at === calls.length - 1 ? status : "completed",
          })
        );
      }),
    ].join("");
    return begun + empty + done + this.#event(`response.${status}`, this.#whole(status));
  }

  #add(item: Item): Open {
    this.#output.push(item);
    return { item, index: this.#output.length - 1, text: "" };
  }

  #done({ item, index }: Open, change: Record<string, unknown>): string {
    const whole = { ...item, ...change };
    this.#output[index] = whole;
    return this.#event("response.output_item.done", { output_index: index, item: whole });
  }

  #whole(status: ResponseEnd["status"], error?: ResponseEnd["error"]): { response: unknown } {
    const output = status === "in_progress" ? [] : [...this.#output];
    const end = { status, output, usage: this.#usage };
    return { response: this.#head.with(error === undefined ? end : { ...end, error }) };
  }

  #event(type: string, more: object): string {
    const data = { type, sequence_number: this.#sequence++, ...more };
    return `event: ${type}\n${DATA}${JSON.stringify(data)}\n\n`;
  }
}

function placeOf({ item, index }: Open): { item_id: string; output_index: number } {
  return { item_id: item.id, output_index: index };
}

function parsed(text: string): Record<string, unknown> {
  try {
    const chunk: unknown = JSON.parse(text);
    return isObject(chunk) ? chunk : {};
  } catch {
    return {};
  }
}
