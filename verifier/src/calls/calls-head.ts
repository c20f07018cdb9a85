/** What an export of the journal of model calls says that it is about: its first line. */
import { memberOf, readBoundedJson } from "../input/bounded-json.ts";
import { Refused } from "../input/note.ts";

export const MAX_LINE_BYTES = 65_536;
const MAX_ORIGIN = 255;
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;

export type CallsHead = {
  origin: string;
  /** Entries of the log among which all batches were looked for. */
  size: number;
  /** By the log's clock: not before, and before; null without a bound. */
  from: string | null;
  to: string | null;
  /** Calls of this one alone; null for all. */
  deployment: string | null;
};

/** @throws {@link Refused} for what is no such line */
export function readCallsHead(bytes: Uint8Array): CallsHead {
  const value = readBoundedJson(bytes, MAX_LINE_BYTES, "the first line of the calls");
  const member = (name: string): unknown => memberOf(value, name);
  const [origin, size] = [member("origin"), member("size")];
  const [from, to, deployment] = [member("from"), member("to"), member("deployment")];
  const isTime = (one: unknown): one is string | null =>
    one === null || (typeof one === "string" && TIME.test(one));
  if (
    member("kind") !== "calls" ||
    member("v") !== 1 ||
    typeof origin !== "string" ||
    origin.length > MAX_ORIGIN ||
    !Number.isSafeInteger(size) ||
    Number(size) < 0 ||
    !isTime(from) ||
    !isTime(to) ||
    !(deployment === null || (typeof deployment === "string" && ID.test(deployment)))
  )
    throw new Refused("the file of calls is no export of the journal of model calls");
  return { origin, size: Number(size), from, to, deployment };
}
