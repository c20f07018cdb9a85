/** What a line of a log says beside its words. Pure. */
import Anser from "anser";
import { NVFLARE_LOGGERS } from "./nvflare-loggers.ts";

export const LEVELS = ["debug", "info", "warning", "error"] as const;
export type Level = (typeof LEVELS)[number];
export type ParsedLine = {
  /** As a terminal would show it at last. */
  text: string;
  /** Null for what is no record: it goes with the record before it. */
  level: Level | null;
  /** Unix milliseconds, as members have no other zone than UTC; null for what is no record. */
  at: number | null;
  /** Said by the framework below the job's code, and no warning. */
  isNvflare: boolean;
};

const RECORD =
  /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,3}))?\d*(?: ?Z)?(?: - ([\w.]+))? ?[-:]? ?(?:\[)?(DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)\b/;
const TRACEBACK = /^\s*(Traceback \(most recent call last\)|[\w.]*(Error|Exception): )/;
const WARNING = /\b\w*Warning: /;
const OF_NAME: Readonly<Record<string, Level>> = {
  ...{ DEBUG: "debug", INFO: "info", WARNING: "warning", WARN: "warning" },
  ...{ ERROR: "error", CRITICAL: "error", FATAL: "error" },
};

export function parsedLine(raw: string): ParsedLine {
  const text = overwritten(raw);
  const plain = text.includes("\u001b") ? Anser.ansiToText(text) : text;
  const record = RECORD.exec(plain);
  if (record === null) {
    const level = TRACEBACK.test(plain) ? "error" : WARNING.test(plain) ? "warning" : null;
    return { text, level, at: null, isNvflare: false };
  }
  const [, day, time, ms = "0", logger = "", name = ""] = record;
  const level = OF_NAME[name] ?? "info";
  return {
    ...{ text, level, at: Date.parse(`${day}T${time}.${ms.padEnd(3, "0")}Z`) },
    isNvflare:
      (level === "info" || level === "debug") &&
      NVFLARE_LOGGERS.has(logger.slice(logger.lastIndexOf(".") + 1)),
  };
}

/** A carriage return begins the line anew, as progress bars do: the last state is what is left of it. */
function overwritten(raw: string): string {
  if (!raw.includes("\r")) return raw;
  const whole = raw.replace(/\r+$/, "");
  return whole.slice(whole.lastIndexOf("\r") + 1);
}
