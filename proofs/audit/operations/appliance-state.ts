/**
 * What a request could have changed: every row of the coordinator's database, every inode of the object store, the containers.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LocalAppliance } from "@resontech/house/local-appliance";

export type ApplianceState = {
  /** Of every table, each with the values of all its columns. */
  rows: string[];
  /**
   * Files and folders with inode, size, digest and time of the last change; that time moves with attributes too, where the
   * engine keeps tags and policies.
   */
  objects: { path: string; line: string }[];
  /** As it was known when the folders had been read: what moves by itself may be known only later. */
  isMovingObject: (path: string) => boolean;
  /** Of every container of the appliance's own engine: its id, and when it was started and whether it has ended. */
  containers: string[];
};

/** What may differ, with the reason why it moves by itself. */
export type Moving = {
  /** By table; `*` is all of it. */
  columns: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Rows by table, as they read; for tables that hold rows of others as well. */
  isMovingRow?: (table: string, row: Readonly<Record<string, unknown>>) => boolean;
  /** Of paths below `data/s3`; asked for after the folders were read. */
  movingObjects?: () => (path: string) => boolean;
};

/** Whether or not anybody asks for anything that changes something. */
export const MOVED_BY_TIME: Moving = {
  columns: {
    platform_keys: {
      last_used_at: "each request notes that its key was used, one that is refused as well",
    },
  },
  // The coordinator writes down its clock, to see later whether that was set.
  isMovingRow: (table, { name }) =>
    table === "meta" && (name === "clock-anchor" || name === "written-at"),
};

/** Once auditd is back; of the numbers of the coordinator's records (`record-pseq`) none is new. */
export function alsoMovedByReturn({ columns, isMovingRow, movingObjects }: Moving): Moving {
  return {
    ...(movingObjects === undefined ? {} : { movingObjects }),
    columns: {
      ...columns,
      audit_outbox: {
        "*": "what was to be recorded before auditd went is sent, such as the stop itself",
      },
    },
    isMovingRow: (table, row) =>
      isMovingRow?.(table, row) === true || (table === "meta" && row["name"] === "record-ack"),
  };
}

const LOCKS = ".vgwlocks";
const MAX_SHOWN = 20;
const MAX_SHOWN_CHARS = 300;

export function stateOf(appliance: LocalAppliance, moving: Moving): ApplianceState {
  const rows = rowsOf(appliance, moving);
  return { rows, ...objectsOf(appliance, moving), containers: containersOf(appliance) };
}

/** What is in one and not in the other; empty when nothing was changed. */
export function changesBetween(before: ApplianceState, after: ApplianceState): string[] {
  const compared = ({ rows, objects, containers }: ApplianceState) => ({
    rows,
    objects: objects
      .filter(({ path }) => !before.isMovingObject(path) && !after.isMovingObject(path))
      .map(({ path, line }) => `${path} ${line}`),
    containers,
  });
  const [then, now] = [compared(before), compared(after)];
  const changes = (["rows", "objects", "containers"] as const).flatMap((kind) => [
    ...missingFrom(now[kind], then[kind]).map((line) => `- ${kind}: ${line}`),
    ...missingFrom(then[kind], now[kind]).map((line) => `+ ${kind}: ${line}`),
  ]);
  return changes.slice(0, MAX_SHOWN).map((line) => line.slice(0, MAX_SHOWN_CHARS));
}

function missingFrom(those: readonly string[], these: readonly string[]): string[] {
  const known = new Set(those);
  return these.filter((line) => !known.has(line));
}

function rowsOf(
  { root }: LocalAppliance,
  { columns, isMovingRow = () => false }: Moving,
): string[] {
  using db = new DatabaseSync(join(root, "data", "coordinator", "coordinator.db"), {
    readOnly: true,
  });
  // One moment for all tables.
  db.exec("BEGIN");
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all();
  return tables.flatMap(({ name }) => {
    const table = String(name);
    const left = columns[table] ?? {};
    if ("*" in left) return [];
    return db
      .prepare(`SELECT * FROM "${table}"`)
      .all()
      .filter((row) => !isMovingRow(table, row))
      .map((row) => Object.entries(row).filter(([column]) => !(column in left)))
      .map((row) => `${table} ${JSON.stringify(Object.fromEntries(row), readable)}`);
  });
}

function readable(_name: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return typeof value === "bigint" ? String(value) : value;
}

function objectsOf(
  { root }: LocalAppliance,
  { movingObjects = () => () => false }: Moving,
): Pick<ApplianceState, "objects" | "isMovingObject"> {
  const store = join(root, "data", "s3");
  const objects: ApplianceState["objects"] = [];
  const entries = readdirSync(store, { recursive: true, withFileTypes: true });
  const isMovingObject = movingObjects();
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    const path = relative(store, file);
    // The engine makes its locks for reads as well, and leaves them empty.
    if (path.split("/").includes(LOCKS) || isMovingObject(path)) continue;
    const { ino, size, ctimeNs } = lstatSync(file, { bigint: true });
    const content = entry.isFile()
      ? `${size} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`
      : "folder";
    objects.push({ path, line: `${ino} ${ctimeNs} ${content}` });
  }
  return { objects, isMovingObject };
}

function containersOf({ engineSocket }: LocalAppliance): string[] {
  const format = "{{.Names}} {{.ID}} {{.StartedAt}} {{.Exited}}";
  const args = ["--url", `unix://${engineSocket}`, "ps", "--all", "--no-trunc", "--format", format];
  const { status, stdout, stderr } = spawnSync("podman", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`podman ps: ${stderr}`);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}
