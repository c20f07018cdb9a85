/** What the form says, as the judges take it. */
import { type KnownHead, parseKnown } from "../known.ts";
import { Refused } from "../note.ts";
import { parseNonce, parseSample, type Sample } from "../sample.ts";
import { type Downtime, MAX_DOWNTIME_BYTES, parseDowntime } from "../timeline.ts";
import { byId } from "./dom.ts";
import { readSmall, UnusableInput } from "./read-file.ts";

export type Inputs = {
  file: File;
  policy: Uint8Array | null;
  known: KnownHead[];
  nonce?: Uint8Array;
  downtime: Downtime[] | null;
  sample?: Sample;
};

export const FIELDS = ["export", "policy", "known", "nonce", "downtime", "sample", "filter"] as const;
export const field = (name: (typeof FIELDS)[number]): HTMLInputElement => byId(name, HTMLInputElement);
const filesOf = (name: (typeof FIELDS)[number]): File[] => [...(field(name).files ?? [])];
const textOf = (name: (typeof FIELDS)[number]): string => field(name).value.trim();

/** @throws {@link UnusableInput} for the first field that can't be used */
export async function readInputs(): Promise<Inputs> {
  const [file] = filesOf("export");
  if (file === undefined) throw new UnusableInput("export", "choose an export or a proof first");
  const policy = await readPolicy();
  const known: KnownHead[] = [];
  for (const one of filesOf("known")) known.push(...knownOf(await readSmall(one, "known"), one.name));
  const nonce = nonceOf(textOf("nonce"));
  const [times] = filesOf("downtime");
  const downtime = times === undefined ? null : downtimeOf(await readSmall(times, "downtime", MAX_DOWNTIME_BYTES), times.name);
  const sample = sampleOf(textOf("sample"), textOf("filter"), nonce !== null);
  return {
    file,
    policy,
    known,
    downtime,
    ...(nonce === null ? {} : { nonce }),
    ...(sample === null ? {} : { sample }),
  };
}

export async function readPolicy(): Promise<Uint8Array | null> {
  const [file] = filesOf("policy");
  return file === undefined ? null : readSmall(file, "policy");
}

function knownOf(bytes: Uint8Array, name: string): KnownHead[] {
  try {
    return parseKnown(bytes);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    throw new UnusableInput("known", `${name}: ${error.message}`);
  }
}

function nonceOf(text: string): Uint8Array | null {
  if (text === "") return null;
  const nonce = parseNonce(text);
  if (nonce === null) throw new UnusableInput("nonce", "a nonce is 32 bytes as 64 hexadecimal digits in lower case");
  return nonce;
}

function downtimeOf(bytes: Uint8Array, name: string): Downtime[] {
  const times = parseDowntime(new TextDecoder().decode(bytes));
  if (times === null) throw new UnusableInput("downtime", `${name} has a line that is not “FROM TO” in UTC, FROM before TO`);
  return times;
}

function sampleOf(count: string, filter: string, hasNonce: boolean): Sample | null {
  if (count === "") return null;
  const sample = parseSample(count, filter, hasNonce);
  if ("fault" in sample) throw new UnusableInput("sample", sample.fault);
  return sample;
}
