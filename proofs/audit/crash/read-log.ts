/** Reads a log as a stranger would, by the public formats alone: tlog-tiles, signed notes, tlog-policy, and RFC 6962 for the hashes. */
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseCheckpoint } from "./promises.ts";

const WIDTH = 256;
const SHARD = /^[0-9]{4}$/;
const SIGNATURE = /^— ([^ ]+) ([A-Za-z0-9+/=]+)$/;

export type ReadLog = {
  origin: string;
  size: number;
  root: string;
  leaves: Buffer[];
  hashes: Buffer[];
  /** `name+key id` of each signature under the checkpoint. */
  signers: string[];
};
export type SidecarLine = { index: number; field: string; commitment: string };
export type Leaf = {
  prod: string;
  boot: string;
  pseq: number;
  type: string;
  op: string;
  phase: string;
  detail?: Record<string, unknown>;
};
export type ReadShard = { slug: string; log: ReadLog; sidecar: SidecarLine[] };

/** Every shard, oldest first. @throws when a file is missing, or is not what it must be */
export function readShards(auditDir: string): ReadShard[] {
  return readdirSync(auditDir)
    .filter((name) => SHARD.test(name))
    .sort()
    .map((slug) => ({
      slug,
      log: readLog(join(auditDir, slug)),
      sidecar: readSidecar(join(auditDir, slug)),
    }));
}

/** Every leaf under the newest checkpoint. @throws when a file is missing or does not divide into entries */
export function readLog(logDir: string): ReadLog {
  const note = readFileSync(join(logDir, "checkpoint"), "utf8");
  const { size, root } = parseCheckpoint(note);
  const leaves: Buffer[] = [];
  for (let bundle = 0; bundle * WIDTH < size; bundle++) {
    const width = Math.min(WIDTH, size - bundle * WIDTH);
    const entries = entriesOf(readFileSync(bundlePath(logDir, bundle, width)));
    if (entries.length < width)
      throw new Error(`bundle ${bundle} has ${entries.length} of ${width} entries`);
    leaves.push(...entries.slice(0, width));
  }
  const hashes = leaves.map((leaf) =>
    hash("sha256", Buffer.concat([Buffer.of(0), leaf]), "buffer"),
  );
  return { origin: note.split("\n", 1)[0]!, size, root, leaves, hashes, signers: signersOf(note) };
}

export function leavesOf({ leaves }: ReadLog): Leaf[] {
  return leaves.map((leaf) => JSON.parse(leaf.toString("utf8")) as Leaf);
}

/** `name+key id` of each key that a policy lists for a log. */
export function readPolicyKeys(policyFile: string): string[] {
  return [...readFileSync(policyFile, "utf8").matchAll(/^log ([^ +]+\+[0-9a-f]{8})\+/gm)].map(
    ([, key]) => key!,
  );
}

/** Roots of the trees of these sizes over the first so many leaves. */
export function rootsAt(
  hashes: readonly Buffer[],
  sizes: ReadonlySet<number>,
): Map<number, string> {
  const roots = new Map<number, string>();
  const stack: { hash: Buffer; leaves: number }[] = [];
  const note = (size: number): void => {
    if (!sizes.has(size)) return;
    const root = stack
      .map((subtree) => subtree.hash)
      .reduceRight<Buffer | null>(
        (right, left) => (right === null ? left : node(left, right)),
        null,
      );
    roots.set(size, (root ?? hash("sha256", "", "buffer")).toString("base64"));
  };
  note(0);
  for (const [at, leafHash] of hashes.entries()) {
    stack.push({ hash: leafHash, leaves: 1 });
    while (stack.length > 1 && stack.at(-1)!.leaves === stack.at(-2)!.leaves) {
      const right = stack.pop()!;
      const left = stack.pop()!;
      stack.push({ hash: node(left.hash, right.hash), leaves: left.leaves * 2 });
    }
    note(at + 1);
  }
  return roots;
}

/** Every line of what opens commitments. @throws for a line that is none */
function readSidecar(logDir: string): SidecarLine[] {
  const folder = join(logDir, "disclosures");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1))
    .map((line) => JSON.parse(line) as SidecarLine);
}

/** These logs stay below 256,000 leaves, so a bundle's number has one group of digits. */
function bundlePath(logDir: string, bundle: number, width: number): string {
  const full = join(logDir, "tile/entries", String(bundle).padStart(3, "0"));
  const partial = `${full}.p/${width}`;
  return width < WIDTH && existsSync(partial) ? partial : full;
}

function entriesOf(bundle: Buffer): Buffer[] {
  const entries: Buffer[] = [];
  for (let at = 0; at + 2 <= bundle.length; ) {
    const end = at + 2 + bundle.readUInt16BE(at);
    entries.push(bundle.subarray(at + 2, end));
    at = end;
  }
  return entries;
}

/** A signature's bytes begin with the four of its key's id. */
function signersOf(note: string): string[] {
  return note.split("\n").flatMap((line) => {
    const [, name, encoded] = SIGNATURE.exec(line) ?? [];
    return name === undefined
      ? []
      : [`${name}+${Buffer.from(encoded!, "base64").subarray(0, 4).toString("hex")}`];
  });
}

function node(left: Buffer, right: Buffer): Buffer {
  return hash("sha256", Buffer.concat([Buffer.of(1), left, right]), "buffer");
}
