/** What the form says, as the judges take it. */
import { type KnownHead, parseKnown } from "../tree/known.ts";
import { Refused } from "../input/note.ts";
import { webPlatform } from "../platform/platform-web.ts";
import { MAX_RELEASE_BYTES, Releases } from "../completeness/releases.ts";
import { parseNonce, parseSample, type Sample } from "../sample/sample.ts";
import { type Downtime, MAX_DOWNTIME_BYTES, parseDowntime } from "../completeness/timeline.ts";
import { byId } from "./dom.ts";
import { readSmall, UnusableInput } from "./read-file.ts";

export type Inputs = {
  file: File;
  policy: Uint8Array | null;
  known: KnownHead[];
  releases: Releases;
  nonce?: Uint8Array;
  downtime: Downtime[] | null;
  sample?: Sample;
};

export const FIELDS = [
  "export",
  "policy",
  "known",
  "release",
  "nonce",
  "downtime",
  "sample",
  "filter",
] as const;
export const field = (name: (typeof FIELDS)[number]): HTMLInputElement =>
  byId(name, HTMLInputElement);
const filesOf = (name: (typeof FIELDS)[number]): File[] => [...(field(name).files ?? [])];
const textOf = (name: (typeof FIELDS)[number]): string => field(name).value.trim();

/** @throws {@link UnusableInput} for the first field that can't be used */
export async function readInputs(): Promise<Inputs> {
  const [file] = filesOf("export");
  if (file === undefined) throw new UnusableInput("export", "choose an export or a proof first");
  const policy = await readPolicy();
  const known: KnownHead[] = [];
  for (const one of filesOf("known"))
    known.push(...used("known", one, parseKnown, await readSmall(one, "known")));
  const releases = new Releases(webPlatform);
  for (const one of filesOf("release"))
    used(
      "release",
      one,
      (bytes) => releases.add(bytes),
      await readSmall(one, "release", MAX_RELEASE_BYTES),
    );
  const nonce = nonceOf(textOf("nonce"));
  const [times] = filesOf("downtime");
  const downtime =
    times === undefined
      ? null
      : downtimeOf(await readSmall(times, "downtime", MAX_DOWNTIME_BYTES), times.name);
  const sample = sampleOf(textOf("sample"), textOf("filter"), nonce !== null);
  return {
    file,
    policy,
    known,
    releases,
    downtime,
    ...(nonce === null ? {} : { nonce }),
    ...(sample === null ? {} : { sample }),
  };
}

export async function readPolicy(): Promise<Uint8Array | null> {
  const [file] = filesOf("policy");
  return file === undefined ? null : readSmall(file, "policy");
}

function used<T>(
  field: string,
  { name }: File,
  read: (bytes: Uint8Array) => T,
  bytes: Uint8Array,
): T {
  try {
    return read(bytes);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new UnusableInput(field, `${name}: ${error.message}`);
  }
}

function nonceOf(text: string): Uint8Array | null {
  if (text === "") return null;
  const nonce = parseNonce(text);
  if (nonce === null)
    throw new UnusableInput("nonce", "a nonce is 32 bytes as 64 hexadecimal digits in lower case");
  return nonce;
}

function downtimeOf(bytes: Uint8Array, name: string): Downtime[] {
  const times = parseDowntime(new TextDecoder().decode(bytes));
  if (times === null)
    throw new UnusableInput(
      "downtime",
      `${name} has a line that is not “FROM TO” in UTC, FROM before TO`,
    );
  return times;
}

function sampleOf(count: string, filter: string, hasNonce: boolean): Sample | null {
  if (count === "") return null;
  const sample = parseSample(count, filter, hasNonce);
  if ("fault" in sample) throw new UnusableInput("sample", sample.fault);
  return sample;
}
