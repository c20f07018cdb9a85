import type { OpenAiCall } from "@resontech/contracts/openai-surface";
import type { Usage } from "./usage.ts";

/** What is remembered of a call that reached a replica; of what was asked and answered nothing. */
export type CallRecord = {
  requestId: string;
  deployment: string;
  member: string;
  call: OpenAiCall;
  isStream: boolean;
  /** Of the answer; null where none began. */
  status: number | null;
  outcome: "completed" | "refused" | "client_gone" | "timed_out" | "replica_lost";
  /** Null where the answer told none. */
  usage: Usage | null;
  ms: number;
};

export type CallRecords = { note(record: CallRecord): void };
