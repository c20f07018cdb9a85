/** Reads what auditd hands out. It is our own process, and yet every line is checked: what is sealed wrongly can't be opened again. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Count, Disclosure, PlainId, Sha256Hex } from "@resontech/contracts/audit-event";
import { commitmentOf } from "@resontech/audit/format/event/commitment";

const Line = Type.Object(
  {
    index: Count,
    ...Disclosure.properties,
    subject: PlainId,
    month: Type.String({ pattern: "^[0-9]{4}-(?:0[1-9]|1[0-2])$" }),
    commitment: Sha256Hex,
  },
  { additionalProperties: false },
);
export type SpooledLine = Static<typeof Line>;
const isLine = Compile(Line);

/** A line of a segment is none of auditd's, or opens no commitment. */
export class SegmentFault extends Error {
  override readonly name = "SegmentFault";
  readonly code = "segment_fault";
}

/** @throws {@link SegmentFault} naming the line, never what stands in it */
export function readSegment(text: string): SpooledLine[] {
  if (text !== "" && !text.endsWith("\n")) throw new SegmentFault("the last line is torn");
  return text
    .split("\n")
    .slice(0, -1)
    .map((line, at) => {
      const value = parsed(line);
      if (!isLine.Check(value)) throw new SegmentFault(`line ${at + 1} is no disclosure`);
      if (commitmentOf(value.field, value.salt, value.value) !== value.commitment)
        throw new SegmentFault(`line ${at + 1} does not open its commitment`);
      return value;
    });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
