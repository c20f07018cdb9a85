import { createHash, randomBytes } from "node:crypto";
import type { CommitmentField, Disclosure } from "@resontech/contracts/audit-event";

const PREFIX = Buffer.from("sov-pii-v1\0", "latin1");
const SEPARATOR = Buffer.from([0]);

/** `SHA-256("sov-pii-v1" ‖ 0 ‖ field ‖ 0 ‖ salt32 ‖ value)` in hex; `salt` is 32 bytes in hex. */
export function commitmentOf(field: string, salt: string, value: string): string {
  return createHash("sha256")
    .update(PREFIX)
    .update(field, "utf8")
    .update(SEPARATOR)
    .update(Buffer.from(salt, "hex"))
    .update(value, "utf8")
    .digest("hex");
}

/** A fresh commitment of a personal or guessable value, and what opens it. Two calls for one value never agree. */
export function commitment(
  field: CommitmentField,
  value: string,
): { commitment: string; disclosure: Disclosure } {
  const salt = randomBytes(32).toString("hex");
  return { commitment: commitmentOf(field, salt, value), disclosure: { field, salt, value } };
}

/**
 * Commits value after value for one event (or the two of one operation) and keeps what opens them:
 * `const commit = committer(); … src: { addr: commit("src.addr", ip) } …; await producer.requested(draft, commit.disclosures)`.
 */
export function committer(): {
  (field: CommitmentField, value: string): string;
  readonly disclosures: Disclosure[];
} {
  const disclosures: Disclosure[] = [];
  const commit = (field: CommitmentField, value: string): string => {
    const made = commitment(field, value);
    disclosures.push(made.disclosure);
    return made.commitment;
  };
  return Object.assign(commit, { disclosures });
}
