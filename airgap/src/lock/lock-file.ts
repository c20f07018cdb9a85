/** `airgap/lock.json`: every engine and package by version and digest. Nothing is fetched that is not in it. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";

const closed = { additionalProperties: false } as const;
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** A Debian package; `size` in bytes. */
export const DebianPin = Type.Object(
  { name: Type.String(), version: Type.String(), sha256: Sha256, size: Type.Integer() },
  closed,
);
export type DebianPin = Static<typeof DebianPin>;

/** A wheel of PyPI by file name; `licence` as its own metadata says it. */
export const WheelPin = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    file: Type.String(),
    sha256: Sha256,
    licence: Type.String({ minLength: 1 }),
  },
  closed,
);
export type WheelPin = Static<typeof WheelPin>;

const Provenance = { version: Type.String(), licence: Type.String() };

export const LockFile = Type.Object(
  {
    formatVersion: Type.Literal(1),
    /** Version of the release that this lock makes. */
    version: Type.String(),
    /** Counts releases, never back: the version of the trust metadata. */
    releaseNumber: Type.Integer({ minimum: 1 }),
    /** Ranges of the releases that this one may take the place of, as in the release's manifest. */
    upgradeFrom: Type.Array(Type.String({ maxLength: 128 })),
    /** Seconds; every file of an image or archive carries this time at most. */
    sourceDateEpoch: Type.Integer(),
    /** Go programs. `sum` is the module's h1 hash as go.sum states it; a recipe has its own go.sum instead. */
    go: Type.Record(
      Type.String(),
      Type.Object(
        {
          ...Provenance,
          package: Type.String(),
          module: Type.String(),
          sum: Type.Union([Type.String(), Type.Null()]),
        },
        closed,
      ),
    ),
    /** npm packages taken as they are from the locked workspace tree. */
    npm: Type.Record(
      Type.String(),
      Type.Object(
        { ...Provenance, package: Type.String(), file: Type.String(), sha256: Sha256 },
        closed,
      ),
    ),
    maven: Type.Record(
      Type.String(),
      Type.Object(
        { ...Provenance, coordinates: Type.String(), file: Type.String(), sha256: Sha256 },
        closed,
      ),
    ),
    /** Wheels by the set that needs them: `fl-cpu`, `jre`, `torch`, `compiler`. */
    pypi: Type.Record(Type.String(), Type.Array(WheelPin)),
    /** Packages by set: `runtime`, `tools`, and an image's root each: `base`, `python`, `postgres`. */
    deb: Type.Record(Type.String(), Type.Array(DebianPin)),
  },
  closed,
);
export type LockFile = Static<typeof LockFile>;

const Overlay = Type.Object({ of: Sha256, deb: LockFile.properties.deb }, closed);

/** The lock or its overlay can't be read. */
export class LockInvalidError extends Error {
  readonly code = "lock_invalid";
}

/** A package, its pinned version, and the version that is served now (null: none). */
export type StalePin = { name: string; pinned: string; served: string | null };

/** A pinned Debian package is no longer served; mirrors keep only the newest. */
export class LockStaleError extends Error {
  readonly code = "LOCK_STALE";
  readonly changes: readonly StalePin[];

  constructor(changes: readonly StalePin[]) {
    super(
      `the lock pins packages that are no longer served:\n${changes.map((c) => `  ${c.name} ${c.pinned} → ${c.served ?? "gone"}`).join("\n")}\n` +
        "run `airgap lock refresh`, review the change and commit it",
    );
    this.changes = changes;
  }
}

const room = join(import.meta.dirname, "..", "..");
export const LOCK_FILE = join(room, "lock.json");
/** Untracked pins of Debian packages that replace the committed ones on a development machine; a release build never reads it. */
export const OVERLAY_FILE = join(room, "lock.local.json");

/**
 * Reads the lock, and the overlay's Debian pins over it when `overlay` is set and the overlay was made from this very lock.
 * @throws LockInvalidError
 */
export function readLock(
  overlay: boolean,
  files = { lock: LOCK_FILE, overlay: OVERLAY_FILE },
): LockFile {
  const lock = parse(files.lock, LockFile);
  if (!overlay || !existsSync(files.overlay)) return lock;
  const local = parse(files.overlay, Overlay);
  return local.of === digestOfPins(lock) ? { ...lock, deb: local.deb } : lock;
}

/** What an overlay names the lock by that it was made from. */
export function digestOfPins(lock: LockFile): string {
  return createHash("sha256").update(JSON.stringify(lock.deb)).digest("hex");
}

function parse<T extends Type.TSchema>(file: string, schema: T): Static<T> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new LockInvalidError(`${file} can't be read: ${String(error)}`, { cause: error });
  }
  if (!Value.Check(schema, value)) {
    const first = Value.Errors(schema, value)[0];
    throw new LockInvalidError(
      `${file}: ${first?.instancePath ?? ""} ${first?.message ?? "is not a lock"}`,
    );
  }
  return value;
}
