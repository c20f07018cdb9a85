/** What an auditor hands to the verifier, all of it hostile. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { VerdictName } from "@resontech/verifier/judge";

const MAX_BYTES = 1_048_576;
const MAX_FILES = 8;

export type Input = {
  /** An export, or the proof of one event. */
  file: Buffer;
  policy: Buffer | null;
  known: Buffer[];
  erasures: Buffer[];
  /** Of the vendor, as the auditor has them. */
  releases: Buffer[];
  downtime: Buffer | null;
  nonce: string | null;
  sample: { count: string; filter: string } | null;
  /** Verdicts that must pass. */
  required: VerdictName[];
  /** Bytes of the export that the verifier is given at a time. */
  chunkBytes: number;
  /** By standard input. */
  isPiped: boolean;
};

export function inputOf(file: Buffer, policy: Buffer | null, changes: Partial<Input> = {}): Input {
  const none = {
    known: [],
    erasures: [],
    releases: [],
    downtime: null,
    nonce: null,
    sample: null,
    required: [],
    isPiped: false,
  };
  return { file, policy, chunkBytes: 65_536, ...none, ...changes };
}

/** Changes of changes would grow without end. */
export function shortened(input: Input): Input {
  const { file, policy, known, erasures, releases, downtime } = input;
  const short = (bytes: Buffer): Buffer => bytes.subarray(0, MAX_BYTES);
  return {
    ...input,
    file: short(file),
    policy: policy === null ? null : short(policy),
    known: known.slice(0, MAX_FILES).map(short),
    erasures: erasures.slice(0, MAX_FILES).map(short),
    releases: releases.map(short),
    downtime: downtime === null ? null : short(downtime),
  };
}

export function bytesOf({ file, policy, known, erasures, releases, downtime }: Input): number {
  const single = [policy, downtime].filter((part) => part !== null);
  const parts = [file, ...single, ...known, ...erasures, ...releases];
  return parts.reduce((sum, { length }) => sum + length, 0);
}

/** Writes it as an auditor has it. @returns the program's arguments */
export function asFiles(input: Input, folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  const written = (name: string, bytes: Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const args = [written("export", input.file)];
  if (input.policy !== null) args.push("--policy", written("policy", input.policy));
  for (const [at, known] of input.known.entries())
    args.push("--known", written(`known-${at}`, known));
  for (const [at, erasure] of input.erasures.entries())
    args.push("--erasure", written(`erasure-${at}`, erasure));
  for (const [at, release] of input.releases.entries())
    args.push("--release", written(`release-${at}`, release));
  if (input.downtime !== null) args.push("--downtime", written("downtime", input.downtime));
  // With an equals sign: a value may begin with a dash.
  if (input.nonce !== null) args.push(`--nonce=${input.nonce}`);
  if (input.sample !== null)
    args.push(`--sample=${input.sample.count}`, `--filter=${input.sample.filter}`);
  if (input.required.length > 0) args.push(`--require=${input.required.join()}`);
  return args;
}
