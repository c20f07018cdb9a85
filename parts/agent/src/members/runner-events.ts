/** Reads what the runner appends to `events.jsonl`. The file is the job's own: every line is a stranger's until the schema has read it. */
import { readSync } from "node:fs";
import { MemberEvent, RoundNumber } from "@resontech/contracts/agent-protocol";
import { isAgentReason } from "@resontech/contracts/job-reasons";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Verdict } from "../decisions/container-end.ts";
import type { JobFile } from "../substrate/area.ts";

const CHUNK_BYTES = 256 * 1024;
/** A line that is longer is no event; it is passed over whole. */
const MAX_LINE_BYTES = 64 * 1024;
const MAX_MESSAGE_CHARS = 4_000;
const MAX_DETAIL_CHARS = 16_000;

/** What a runner may say that it is at. */
const LOADING = "loading";

/** As the protocol's names are. */
const SITE_NAME = /^[A-Za-z0-9._-]{1,64}$/;

const RoundModel = Type.Object({
  round: RoundNumber,
  file: Type.String({ maxLength: 1024 }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});

export type RunnerNews = {
  /** To be told as they are. */
  events: MemberEvent[];
  /** The runner's last word: told only once the container has ended. */
  verdict: Verdict | null;
  /** Path in the container and the persistor's name of the global model. */
  model: { file: string; name: string } | null;
  /** The newest round's model, where a round left one. */
  roundModel: { round: number; file: string; sha256: string } | null;
  /** Bytes that are dealt with: where to go on. */
  offset: number;
};

/** Whole lines from `offset` on, at most 256 KiB or `maxEvents` events at a time; an unfinished last line waits for its end. */
export function readRunnerEvents(file: JobFile, offset: number, maxEvents: number): RunnerNews {
  const news: RunnerNews = { events: [], verdict: null, model: null, roundModel: null, offset };
  const length = Math.min(CHUNK_BYTES, file.sizeBytes - offset);
  if (length <= 0) return news;
  const chunk = Buffer.alloc(length);
  const read = readSync(file.fd, chunk, 0, length, offset);
  const end = chunk.lastIndexOf(10, read - 1);
  if (end < 0) return read < MAX_LINE_BYTES ? news : { ...news, offset: offset + read };
  let from = 0;
  while (from <= end && news.events.length < maxEvents) {
    const to = chunk.indexOf(10, from);
    takeLine(chunk.toString("utf8", from, to), news);
    from = to + 1;
  }
  return { ...news, offset: offset + from };
}

function takeLine(line: string, news: RunnerNews): void {
  const value = parse(line);
  if (value === null) return;
  const { t: _, ...event } = value;
  switch (value["kind"]) {
    case "progress":
      // Its other steps are the agent's own to tell.
      if (value["step"] !== LOADING) return;
      if (Value.Check(MemberEvent, event)) news.events.push(event);
      return;
    case "ready":
    case "standing":
    case "job-started":
    case "round-started":
    case "round-ended":
    case "metric":
    case "warning":
      if (Value.Check(MemberEvent, event)) news.events.push(event);
      return;
    case "round-model":
      if (Value.Check(RoundModel, event))
        news.roundModel = { round: event.round, file: event.file, sha256: event.sha256 };
      return;
    case "finished":
      news.verdict = { kind: "finished" };
      if (typeof value["modelFile"] === "string" && typeof value["modelName"] === "string")
        news.model = { file: value["modelFile"], name: value["modelName"] };
      return;
    case "failed": {
      const reason = textOf(value["reason"], 64);
      const detail = textOf(value["detail"], MAX_DETAIL_CHARS);
      const site = textOf(value["site"], 64);
      news.verdict = {
        kind: "failed",
        reason: isAgentReason(reason) ? reason : "payload_exited",
        message: textOf(value["message"], MAX_MESSAGE_CHARS),
        ...(detail === "" ? {} : { detail }),
        ...(SITE_NAME.test(site) ? { site } : {}),
      };
      return;
    }
    default:
    // `site-registered`, and what later runners may say: nothing that the coordinator decides on.
  }
}

function parse(line: string): Record<string, unknown> | null {
  if (line.length > MAX_LINE_BYTES) return null;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Takes the end of a text that is too long: there a traceback says what was raised. */
function textOf(value: unknown, maxChars: number): string {
  return typeof value === "string" ? value.slice(-maxChars) : "";
}
