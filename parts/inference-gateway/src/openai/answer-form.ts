/** What becomes of a chat's answer for a client that asked in another form. */
import type { OpenAiRefusal } from "./openai-error.ts";

export type AnswerForm = {
  /** @param answer of a chat, as an engine gave it */
  whole(answer: unknown): unknown;
  /** Of one stream. */
  events(): {
    /** @param events whole ones of a chat @returns events for the client */
    push(events: string): string;
    /** The last event, of a stream that breaks off. */
    broken(refusal: OpenAiRefusal): string;
  };
};
