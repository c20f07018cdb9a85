/** One file or folder of the object store, as a line of a backup's index. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { BackupError } from "../backup-error.ts";

const closed = { additionalProperties: false };
const Count = Type.Integer({ minimum: 0 });

const ObjectEntry = Type.Object(
  {
    /** Below the store's folder. */
    path: Type.String({ minLength: 1, maxLength: 8_192 }),
    mode: Count,
    uid: Count,
    gid: Count,
    mtimeMs: Type.Number(),
    /** Extended attributes, base64. */
    attributes: Type.Record(Type.String(), Type.String()),
    /** Null for a folder. */
    file: Type.Union([
      Type.Object(
        {
          bytes: Count,
          sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
          /** Of the object on the target that holds it; null where it is empty. */
          object: Type.Union([Type.String({ pattern: "^[0-9a-f]{40}$" }), Type.Null()]),
        },
        closed,
      ),
      Type.Null(),
    ]),
  },
  closed,
);
export type ObjectEntry = Static<typeof ObjectEntry>;
const form = Compile(ObjectEntry);

/** @throws BackupError `backup_damaged` for a line that is none, or whose path leads out of the store */
export function readObjectEntry(line: string): ObjectEntry {
  const entry: unknown = parsed(line);
  if (form.Check(entry) && isInside(entry.path)) return entry;
  throw new BackupError("backup_damaged", "a line of the index of objects can't be read");
}

function isInside(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** `objects/ab/abcd…`: a folder holds a 256th of all. */
export function objectPath(name: string): string {
  return `objects/${name.slice(0, 2)}/${name}.age`;
}

/** Takes the name out of a path; null for what is no {@link objectPath}. */
export function objectNameOf(path: string): string | null {
  return /^objects\/[0-9a-f]{2}\/([0-9a-f]{40})\.age$/.exec(path)?.[1] ?? null;
}
