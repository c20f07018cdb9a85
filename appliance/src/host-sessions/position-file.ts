/** How far the host's sessions are on record: a small file of root's own, replaced in one step. */
import { readFileSync } from "node:fs";
import { Count, Sha256Hex, Uuid } from "@resontech/contracts/audit-event";
import { type Static, Type } from "typebox";
import { reader } from "@resontech/contracts/readable";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { UTMP_BYTES } from "./decisions/utmp-record.ts";

const closed = { additionalProperties: false } as const;

const Position = Type.Object(
  {
    v: Type.Literal(1),
    /** Of the file that is read; null while there was none. */
    inode: Type.Union([Type.Integer(), Type.Null()]),
    /** Bytes that are done with, of whole records. */
    offset: Type.Integer({ minimum: 0, multipleOf: UTMP_BYTES }),
    /** Of the record that ends there: tells the file wherever a rotation put it. Null at its beginning. */
    lastSha256: Type.Union([Sha256Hex, Type.Null()]),
    /** Time of the last record that had one, milliseconds since 1970. */
    lastAtMs: Count,
    /** In order of their sign-in; no name is among it. */
    open: Type.Array(
      Type.Object({ pid: Count, line: Type.Union([Type.String(), Type.Null()]), op: Uuid }, closed),
    ),
  },
  closed,
);
export type Position = Static<typeof Position>;

const readFrom = reader(Position);

export const NOWHERE: Position = {
  v: 1,
  inode: null,
  offset: 0,
  lastSha256: null,
  lastAtMs: 0,
  open: [],
};

/** Reads the position; null where there is none yet. @throws when it is no position */
export function readPosition(file: string): Position | null {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  const position = readFrom(JSON.parse(text));
  if (position === null) throw new Error(`${file} holds no position`);
  return position;
}

/** Writes a position that is durable when this returns. */
export function writePosition(file: string, position: Position): void {
  writeOwned(file, JSON.stringify(position), ROOT, 0o600);
}
