/**
 * How a member's log lies in its bucket: `logs/JOB/MEMBER-GENERATION.COUNTER/SEQUENCE`. Once the member is over, parts become one:
 * `…/to-LAST/SEQUENCE`, whose last segment is the first part's, so that releases which know no merged parts read them in order. Pure.
 */
import type { ObjectVersion } from "../../storage/object-store.ts";

/** A part of a member's log. `offset`: where it begins in what the member printed. */
export type Chunk = { version: ObjectVersion; offset: number };

/** An agent stores a chunk every five seconds at most: one member that never pauses makes so many in six days. */
export const MAX_CHUNKS = 100_000;
/** Of a merged part: the coordinator holds the bytes of one at a time. */
export const MAX_MERGED_BYTES = 8 * 1024 * 1024;

/** Parts that follow one another under one fence, and the object that takes their place; `merged` stands already. */
export type Merge = {
  key: string;
  parts: ObjectVersion[];
  merged: ObjectVersion | null;
  /** No part is gone yet. */
  isWhole: boolean;
};

type Span = { version: ObjectVersion; folder: string; first: number; last: number };

const MERGED_FOLDER = /\/to-(\d+)$/;

/** Answers where all logs of a job lie. */
export function logFolder(jobId: string): string {
  return `logs/${jobId}/`;
}

/** Tells of which member the object at this key is a part. */
export function memberOfChunk(key: string): string {
  return key.split("/")[2]?.replace(/-[^-]*$/, "") ?? "";
}

/** Under which fence the part was stored. */
export function fenceOfChunk(key: string): { generation: number; counter: number } {
  const fence = key.split("/")[2]?.replace(/^.*-/, "") ?? "";
  const [generation, counter] = fence.split(".").map(Number) as [number, number];
  return { generation, counter };
}

/** Chunks of one member in the order in which they were printed: it goes on counting when its fence is renewed. */
export function chunksOf(versions: readonly ObjectVersion[]): Chunk[] {
  const spans = spansOf(versions);
  const merged = spans.filter(isMerged);
  let offset = 0;
  return spans
    .filter((span) => isMerged(span) || !merged.some((whole) => covers(whole, span)))
    .map(({ version }) => {
      const chunk = { version, offset };
      offset += version.sizeBytes;
      return chunk;
    });
}

/** Whether the bytes of this part lie in that merged one. */
export function isMergedInto(part: ObjectVersion, whole: ObjectVersion): boolean {
  const span = spanOf(whole);
  return isMerged(span) && covers(span, spanOf(part));
}

/** What is to be merged of one member's log: what a crash left first. */
export function mergesOf(versions: readonly ObjectVersion[]): Merge[] {
  const spans = spansOf(versions);
  const merged = spans.filter(isMerged);
  const singles = spans.filter((span) => !isMerged(span));
  const left = merged.flatMap((whole): Merge[] => {
    const parts = singles.filter((span) => covers(whole, span));
    if (parts.length === 0) return [];
    const isWhole = parts.length === whole.last - whole.first + 1;
    return [
      { ...mergeOf(whole.folder, parts), key: whole.version.key, merged: whole.version, isWhole },
    ];
  });
  const free = singles.filter((span) => !merged.some((whole) => covers(whole, span)));
  return [...left, ...runsOf(free).map((run) => mergeOf(run[0]!.folder, run))];
}

function mergeOf(folder: string, parts: readonly Span[]): Merge {
  const [first, last] = [parts[0]!.first, parts.at(-1)!.last];
  return {
    key: `${folder}/to-${sequence(last)}/${sequence(first)}`,
    parts: parts.map(({ version }) => version),
    ...{ merged: null, isWhole: true },
  };
}

/** Two or more that follow one another and are small enough together. */
function runsOf(singles: readonly Span[]): Span[][] {
  const runs: Span[][] = [];
  let bytes = 0;
  for (const span of singles) {
    const last = runs.at(-1)?.at(-1);
    bytes += span.version.sizeBytes;
    const follows =
      last !== undefined && last.folder === span.folder && last.last + 1 === span.first;
    if (follows && bytes <= MAX_MERGED_BYTES) runs.at(-1)!.push(span);
    else {
      runs.push([span]);
      bytes = span.version.sizeBytes;
    }
  }
  return runs.filter(({ length }) => length > 1);
}

function spansOf(versions: readonly ObjectVersion[]): Span[] {
  return versions.map(spanOf).toSorted((a, b) => a.first - b.first || b.last - a.last);
}

function spanOf(version: ObjectVersion): Span {
  const at = version.key.lastIndexOf("/");
  const [path, first] = [version.key.slice(0, at), Number(version.key.slice(at + 1))];
  const last = MERGED_FOLDER.exec(path)?.[1];
  const folder = path.replace(MERGED_FOLDER, "");
  return { version, folder, first, last: last === undefined ? first : Number(last) };
}

function isMerged({ first, last }: Span): boolean {
  return last > first;
}

/** Tells whether a part lies in the whole, of one fence alone: the parts of another count by themselves. */
function covers(whole: Span, { folder, first, last }: Span): boolean {
  return whole.folder === folder && whole.first <= first && last <= whole.last;
}

function sequence(number: number): string {
  return String(number).padStart(8, "0");
}
