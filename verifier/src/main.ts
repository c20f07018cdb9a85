/** The offline verifier: one file, no dependencies, Node 20 or later. */
import { once } from "node:events";
import { open, readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { CallsFile } from "./calls/calls-file.ts";
import { type ErasureElsewhere, erasureElsewhere } from "./disclosures/erasures.ts";
import { MAX_PROOF_BYTES, PROOF_HEADER, type ProofReport, verifyProof } from "./event-proof.ts";
import { keepHeapSmall } from "./platform/frugal-heap.ts";
import { type KnownHead, parseKnown } from "./tree/known.ts";
import { isListable, listEntries } from "./listing/list-entries.ts";
import { LISTING_HEAD, type ListedEntry, listedLine } from "./listing/listed-entry.ts";
import { LISTING_OPTIONS, type ListingFilter, parseListing } from "./listing/listing-filter.ts";
import { Refused } from "./input/note.ts";
import { escapeText, HELP, renderProof, renderText } from "./report/output.ts";
import { piecesOf } from "./platform/pieces-of.ts";
import { nodePlatform } from "./platform/platform-node.ts";
import { MAX_RELEASE_BYTES, Releases } from "./completeness/releases.ts";
import { parseNonce, parseSample, type Sample } from "./sample/sample.ts";
import { type Downtime, MAX_DOWNTIME_BYTES, parseDowntime } from "./completeness/timeline.ts";
import { EXIT_REFUSED, exitCode, VERDICTS, type VerdictName } from "./verdicts.ts";
import { lacksCounterpart, type Report, verify } from "./verify.ts";

const MAX_FILE_BYTES = 67_108_864;

class UsageError extends Error {}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      policy: { type: "string" },
      known: { type: "string", multiple: true },
      erasure: { type: "string", multiple: true },
      release: { type: "string", multiple: true },
      nonce: { type: "string" },
      downtime: { type: "string" },
      sample: { type: "string" },
      filter: { type: "string" },
      calls: { type: "string" },
      list: { type: "boolean" },
      type: { type: "string" },
      phase: { type: "string" },
      actor: { type: "string" },
      object: { type: "string" },
      value: { type: "string" },
      outcome: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      require: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const [file, ...rest] = positionals;
  if (file === undefined || rest.length > 0)
    throw new UsageError("exactly one EXPORT is needed; see --help");
  const required = (values.require ?? "")
    .split(",")
    .filter((name) => name !== "")
    .map(verdictName);
  const isJson = values.json === true;
  const listing = readListing(values);
  if (listing !== null && file === "-")
    throw new UsageError(
      "--list reads the export twice, so standard input has to be kept in a file first",
    );
  const policy = values.policy === undefined ? null : await readSmall(values.policy);
  const print = (report: Report | ProofReport, text: string): number => {
    const code = exitCode(
      report.verdicts,
      report.refused !== null,
      required,
      lacksCounterpart(report),
      "calls" in report ? report.calls?.judged : undefined,
    );
    process.stdout.write(isJson ? `${JSON.stringify({ ...report, exitCode: code })}\n` : text);
    return code;
  };
  if (file !== "-" && (await startsWith(file, PROOF_HEADER))) {
    if (listing !== null || values.calls !== undefined)
      throw new UsageError(
        "--list and --calls are for an export; the proof of one event shows that event",
      );
    const report = await verifyProof(await readSmall(file, MAX_PROOF_BYTES), policy, nodePlatform);
    return print(report, renderProof(report));
  }
  const known: KnownHead[] = [];
  for (const path of values.known ?? []) known.push(...parseKnown(await readSmall(path)));
  const erasures: ErasureElsewhere[] = [];
  for (const path of values.erasure ?? []) {
    const erasure = erasureElsewhere(
      await verifyProof(await readSmall(path, MAX_PROOF_BYTES), policy, nodePlatform),
    );
    if (erasure === null) throw new UsageError(`${path} is no proof of an erasure`);
    erasures.push(erasure);
  }
  const releases = new Releases(nodePlatform);
  for (const path of values.release ?? []) releases.add(await readSmall(path, MAX_RELEASE_BYTES));
  const calls = values.calls === undefined ? null : await CallsFile.open(values.calls);
  const report = await verify({
    ...(calls === null ? {} : { watch: (leaf, index) => calls.batches.note(leaf, index) }),
    bundle: file === "-" ? process.stdin : piecesOf(file),
    policy,
    platform: nodePlatform,
    known,
    erasures,
    releases,
    downtime: values.downtime === undefined ? null : await readDowntime(values.downtime),
    ...(values.nonce === undefined ? {} : { nonce: readNonce(values.nonce) }),
    ...(values.sample === undefined
      ? {}
      : { sample: readSample(values.sample, values.filter ?? "", values.nonce !== undefined) }),
    ...(process.stderr.isTTY ? { onProgress: showProgress } : {}),
  });
  if (calls !== null) report.calls = await calls.judge(report);
  const code = print(report, renderText(report));
  return listing === null || (await list(file, report, listing, isJson)) ? code : EXIT_REFUSED;
}

/** @returns whether all that was shown is what was judged */
async function list(
  file: string,
  report: Report,
  filter: ListingFilter,
  isJson: boolean,
): Promise<boolean> {
  const write = (line: string): void => {
    process.stdout.write(`${line}\n`);
  };
  if (!isListable(report)) {
    if (!isJson) write("\nNo entry is listed: INTEGRITY did not pass.");
    return true;
  }
  if (!isJson) write(`\n${LISTING_HEAD}`);
  const show = isJson
    ? (entry: ListedEntry) => write(JSON.stringify(entry))
    : (entry: ListedEntry) => write(listedLine(entry));
  try {
    const shown = await listEntries({
      ...{ bundle: piecesOf(file), report, platform: nodePlatform, filter, show },
      flush: drained,
    });
    if (!isJson) write(`${shown} of ${report.entriesRead} entries are listed.`);
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    process.stderr.write(`verify: ${escapeText(error.message)}\n`);
    return false;
  }
}

/** Waits until the reader of the output has taken what was written. */
async function drained(): Promise<void> {
  if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
}

/** Reads which entries to list; null without `--list`. */
function readListing(values: Readonly<Record<string, unknown>>): ListingFilter | null {
  const given = LISTING_OPTIONS.filter((name) => values[name] !== undefined);
  if (values["list"] !== true) {
    if (given.length > 0)
      throw new UsageError(`--${given[0]} goes with --list; a sample has --filter`);
    return null;
  }
  const filter = parseListing(
    Object.fromEntries(given.map((name) => [name, String(values[name])])),
  );
  if ("fault" in filter) throw new UsageError(filter.fault);
  return filter;
}

function verdictName(name: string): VerdictName {
  const found = VERDICTS.find((verdict) => verdict === name.toUpperCase());
  if (found === undefined)
    throw new UsageError(`--require knows ${VERDICTS.join(", ")}, not ${name}`);
  return found;
}

function readNonce(text: string): Uint8Array {
  const nonce = parseNonce(text);
  if (nonce === null)
    throw new UsageError("--nonce is 32 bytes as 64 hexadecimal digits in lower case");
  return nonce;
}

function readSample(countText: string, filterText: string, hasNonce: boolean): Sample {
  const sample = parseSample(countText, filterText, hasNonce);
  if ("fault" in sample) throw new UsageError(sample.fault);
  return sample;
}

async function readDowntime(path: string): Promise<Downtime[]> {
  const times = parseDowntime((await readSmall(path, MAX_DOWNTIME_BYTES)).toString("utf8"));
  if (times === null)
    throw new UsageError(`${path} has a line that is not \`FROM TO\` in UTC, FROM before TO`);
  return times;
}

/** No more of a file than it may hold. */
async function readSmall(path: string, maxBytes: number = MAX_FILE_BYTES): Promise<Buffer> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) throw new UsageError(`${path} is longer than ${maxBytes} bytes`);
  } finally {
    await handle.close();
  }
  return readFile(path);
}

async function startsWith(path: string, text: string): Promise<boolean> {
  const handle = await open(path);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(text.length), 0, text.length, 0);
    return buffer.toString("latin1", 0, bytesRead) === text;
  } finally {
    await handle.close();
  }
}

function showProgress(entries: number, size: number): void {
  process.stderr.write(`\r${entries} of ${size} entries${entries === size ? "\n" : ""}`);
}

keepHeapSmall();
// Nobody takes the rest: no exit code of a verdict may stand for that.
process.stdout.on("error", () => process.exit(EXIT_REFUSED));
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(
      `verify: ${escapeText(error instanceof Error ? error.message : String(error))}\n`,
    );
    process.exitCode = EXIT_REFUSED;
  },
);
