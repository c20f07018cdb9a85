import {
  type Change,
  type FeedTopic,
  JobContentChange,
  LogChange,
} from "@resontech/contracts/live-feed";
import { isInFilter, type RowFilter, type RowMatch } from "../db/row-filter.ts";

/** A change in its place in the feed. The ring, the queues of readers and the messages share one object. */
export type Told = {
  readonly sequence: number;
  /** RFC 3339 with milliseconds. */
  readonly at: string;
  readonly change: Change;
  /** Whose job or node it is. */
  readonly whose: RowMatch;
  /** Bytes of memory that it takes at most. */
  readonly cost: number;
};

/** What the door let a reader see: which rows, and of jobs their states alone or what was written into them as well. */
export type Reach = { rows: RowFilter; shows: "states" | "everything" };

/** An object of at most a dozen fields, its short strings and its place in a queue included; 620 were measured. */
const OBJECT_BYTES = 768;
/** V8 holds a character in at most so many bytes. */
const CHARACTER_BYTES = 2;

export function costOf(change: Change): number {
  return OBJECT_BYTES + textLength(change) * CHARACTER_BYTES;
}

function textLength(change: Change): number {
  switch (change.kind) {
    case "metric":
      return change.value.length;
    case "warning":
    case "log":
      return change.text?.length ?? 0;
    case "waiting":
      return change.why?.length ?? 0;
    case "explained":
      return change.message.length;
    case "output":
      return change.key.length;
    case "node-cordon":
      return change.reason?.length ?? 0;
    default:
      return 0;
  }
}

/** What a user or a job wrote. */
const CONTENT: ReadonlySet<Change["kind"]> = new Set(
  [...JobContentChange.anyOf, LogChange].map(({ properties }) => properties.kind.const),
);

/** Names under which readers of a change listen. */
export function topicsOf(change: Change, { projectId }: RowMatch): readonly string[] {
  if (change.kind === "approval") return ["approvals"];
  if (change.kind === "findings") return ["findings"];
  if (change.kind === "log") return [`log ${change.job}`];
  if (!("job" in change)) return ["nodes"];
  return [`job ${change.job}`, `project ${projectId ?? ""}`, "jobs"];
}

export function topicName(topic: FeedTopic): string {
  switch (topic.kind) {
    case "job":
    case "log":
      return `${topic.kind} ${topic.job}`;
    case "project":
      return `project ${topic.project}`;
    case "jobs":
    case "nodes":
    case "approvals":
    case "findings":
      return topic.kind;
  }
}

export function isShown({ change, whose }: Told, { rows, shows }: Reach): boolean {
  return (shows === "everything" || !CONTENT.has(change.kind)) && isInFilter(rows, whose);
}
