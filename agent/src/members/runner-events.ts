/** Reads what the runner appends to `events.jsonl`. The file is the job's own: every line is a stranger's until the schema has read it. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import type { MemberEvent } from "@resontech/contracts/agent-protocol";
import { MemberEvent as MemberEventSchema } from "@resontech/contracts/agent-protocol";
import { isAgentReason } from "@resontech/contracts/job-reasons";
import { Value } from "typebox/value";

const CHUNK_BYTES = 256 * 1024;
/** A line that is longer is no event; it is passed over whole. */
const MAX_LINE_BYTES = 64 * 1024;

export type ReadEvents = {
  events: MemberEvent[];
  /** Bytes that are dealt with: where to go on. */
  offset: number;
  model: { file: string; name: string } | null;
};

/** Whole lines from `offset` on; an unfinished last line waits for its end. */
export function readRunnerEvents(file: string, offset: number): ReadEvents {
  const result: ReadEvents = { events: [], offset, model: null };
  if (!existsSync(file)) return result;
  const fd = openSync(file, "r");
  try {
    const length = Math.min(CHUNK_BYTES, fstatSync(fd).size - offset);
    if (length <= 0) return result;
    const chunk = Buffer.alloc(length);
    const read = readSync(fd, chunk, 0, length, offset);
    const end = chunk.lastIndexOf(10, read - 1);
    if (end < 0) return read >= MAX_LINE_BYTES ? { ...result, offset: offset + read } : result;
    for (const line of chunk.subarray(0, end).toString("utf8").split("\n")) {
      const parsed = parseLine(line);
      if (parsed === null) continue;
      if (parsed.model !== null) result.model = parsed.model;
      result.events.push(parsed.event);
    }
    return { ...result, offset: offset + end + 1 };
  } finally {
    closeSync(fd);
  }
}

function parseLine(line: string): { event: MemberEvent; model: { file: string; name: string } | null } | null {
  if (line.length > MAX_LINE_BYTES) return null;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("kind" in value)) return null;
  switch (value.kind) {
    case "ready":
      return { event: { kind: "ready" }, model: null };
    case "job-started":
    case "round-started":
    case "round-ended":
    case "metric": {
      const { t: _, ...event } = value as Record<string, unknown>;
      return Value.Check(MemberEventSchema, event) ? { event, model: null } : null;
    }
    case "finished": {
      const model =
        "modelFile" in value && "modelName" in value ? { file: String(value.modelFile), name: String(value.modelName) } : null;
      return { event: { kind: "finished" }, model };
    }
    case "failed": {
      const text = (name: string, limit: number): string => {
        const field: unknown = Object.entries(value).find(([key]) => key === name)?.[1];
        return typeof field === "string" ? field.slice(-limit) : "";
      };
      const reason = text("reason", 64);
      const detail = text("detail", 16_000);
      return {
        event: {
          kind: "failed",
          reason: isAgentReason(reason) ? reason : "payload_exited",
          message: text("message", 4_000),
          ...(detail === "" ? {} : { detail }),
        },
        model: null,
      };
    }
    default:
      // `site-registered` and what later runners may say: nothing that the coordinator decides on.
      return null;
  }
}
