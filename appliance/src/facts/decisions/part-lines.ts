/** The last lines of a part's log, as far as they may be shown to whoever runs the appliance. Pure. */
import type { PartLine } from "@resontech/contracts/appliance-facts";
import { Type } from "typebox";
import { Value } from "typebox/value";

const MAX_TEXT = 300;

/** What our programs write: names, addresses and errors stand in other fields, which stay here. */
const OwnLine = Type.Object({
  level: Type.Number(),
  time: Type.Number({ minimum: 0 }),
  msg: Type.String(),
});

/** @param text whole lines @returns the last `count`, the oldest first; nothing of a program that is not ours */
export function partLines(text: string, count: number): PartLine[] {
  return text
    .split("\n")
    .flatMap((line) => partLine(line) ?? [])
    .slice(-count);
}

function partLine(line: string): PartLine | null {
  const value = parsed(line);
  if (!Value.Check(OwnLine, value)) return null;
  const level = levelOf(value.level);
  // Each request has a line: they would leave no room for anything else.
  if (level === null || (level === "info" && "reqId" in value)) return null;
  return { at: Math.round(value.time), level, text: value.msg.slice(0, MAX_TEXT) };
}

/** By pino's numbers; what is below is for whoever looks for a defect. */
function levelOf(level: number): PartLine["level"] | null {
  if (level >= 60) return "fatal";
  if (level >= 50) return "error";
  if (level >= 40) return "warn";
  return level >= 30 ? "info" : null;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
