/**
 * The bytes of a file of plan records. A record is a line that says what it is, which begins with its own SHA-256, and the input's deflated lines after it.
 * Pure.
 */
import { hash } from "node:crypto";
import type { PlanDecisions } from "./plan-decisions.ts";

/** @property previous SHA-256 of the head of the record before in the file; null: it is the first, and holds a whole input */
export type PlanHead = {
  form: 1;
  number: number;
  /** In milliseconds of the coordinator's clock. */
  at: number;
  /** That made the plan. */
  release: string;
  previous: string | null;
  /** Plans before it that were not recorded. */
  missed: number;
  /** SHA-256 of what the plan was made from. */
  input: string;
  decisions: PlanDecisions;
  body: { bytes: number; sha256: string };
};
/** @property sha256 of its head @property isDamaged its body is not the one that was written */
export type PlanFrame = { head: PlanHead; sha256: string; body: Buffer; isDamaged: boolean };
/** What keeps the rest of a file from being read: it ends in the middle of a record, holds other bytes than were written, or a newer release wrote it. */
export type PlanFileFault = { why: "cut" | "changed" | "newer"; at: number; bytes: number };

const HEX = 64;
const NEWLINE = 0x0a;

export function planFrame(
  head: Omit<PlanHead, "form" | "body">,
  body: Buffer,
): { bytes: Buffer; sha256: string } {
  const text = JSON.stringify({
    form: 1,
    ...head,
    body: { bytes: body.length, sha256: hash("sha256", body) },
  } satisfies PlanHead);
  const sha256 = hash("sha256", text);
  return { bytes: Buffer.concat([Buffer.from(`${sha256} ${text}\n`), body, END]), sha256 };
}

const END = Buffer.from("\n");

/** All that can be read, with a pause after each. A record follows the one before by its digest: one that was put there from elsewhere is a change. */
export function* framesInSteps(
  file: Buffer,
): Generator<void, { frames: PlanFrame[]; fault: PlanFileFault | null }> {
  const frames: PlanFrame[] = [];
  let previous: string | null = null;
  for (let at = 0; at < file.length; ) {
    const fault = (why: PlanFileFault["why"]) => ({
      frames,
      fault: { why, at, bytes: file.length - at },
    });
    const end = file.indexOf(NEWLINE, at);
    if (end < 0) return fault("cut");
    const sha256 = file.toString("latin1", at, at + HEX);
    const text = file.toString("utf8", at + HEX + 1, end);
    if (hash("sha256", text) !== sha256 || file[at + HEX] !== 0x20) return fault("changed");
    const head = JSON.parse(text) as Omit<PlanHead, "form"> & { form: number };
    // Its digest is right.
    if (head.form !== 1) return fault("newer");
    if (head.previous !== previous) return fault("changed");
    const from = end + 1;
    const next: number = from + head.body.bytes + 1;
    if (next > file.length) return fault("cut");
    const body = file.subarray(from, next - 1);
    const isDamaged = hash("sha256", body) !== head.body.sha256 || file[next - 1] !== NEWLINE;
    frames.push({ head: { ...head, form: 1 }, sha256, body, isDamaged });
    previous = sha256;
    at = next;
    yield;
  }
  return { frames, fault: null };
}
