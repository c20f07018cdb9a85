/** Logs of entries that are sound but for their schemas, which are another release's: so they may say anything. */
import { canonicalText } from "./change-json.ts";
import { type ForgedLog, HONEST, ORIGIN } from "./forged-log.ts";

const FOREIGN = "f".repeat(64);
export const START_MS = Date.parse("2026-01-01T00:00:00.000Z");

/** Of `auditd`, a millisecond after the one before. */
export function fact(at: number, type: string, changes: object = {}): Buffer {
  const time = new Date(START_MS + at).toISOString();
  const id = `${at.toString(16).padStart(8, "0")}-0000-7000-8000-000000000000`;
  const named = {
    actor: { kind: "system", sub: "auditd" },
    object: { id: "auditd", kind: "log" },
    op: id.replace("-7", "-4"),
  };
  const placed = {
    boot: "b",
    id,
    phase: "fact",
    prod: "auditd",
    pseq: at + 1,
    schema_sha256: FOREIGN,
    t: time,
    t_log: time,
    type,
    v: 1,
  };
  return Buffer.from(canonicalText({ ...named, ...placed, ...changes }));
}

export function forged(changes: Partial<ForgedLog>): ForgedLog {
  const none = {
    kept: [],
    disclosures: new Map(),
    known: [],
    knownSizes: [],
    erasures: [],
    releases: [],
    downtime: null,
    nonce: null,
    sample: null,
  };
  return {
    ...none,
    origin: ORIGIN,
    leaves: [fact(0, "key.list")],
    note: HONEST,
    policy: [{ key: "ed25519", as: "log" }, "quorum none"],
    ...changes,
  };
}
