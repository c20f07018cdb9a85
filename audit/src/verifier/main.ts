/** The offline verifier: one file, no dependencies, Node 20 or later. */
import { open, readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { type ErasureElsewhere, erasureElsewhere } from "./erasures.ts";
import { MAX_PROOF_BYTES, PROOF_HEADER, type ProofReport, verifyProof } from "./event-proof.ts";
import { keepHeapSmall } from "./frugal-heap.ts";
import { type KnownHead, parseKnown } from "./known.ts";
import { escapeText, HELP, renderProof, renderText } from "./output.ts";
import { piecesOf } from "./pieces-of.ts";
import { nodePlatform } from "./platform-node.ts";
import { MAX_RELEASE_BYTES, Releases } from "./releases.ts";
import { parseNonce, parseSample, type Sample } from "./sample.ts";
import { type Downtime, MAX_DOWNTIME_BYTES, parseDowntime } from "./timeline.ts";
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
  if (file === undefined || rest.length > 0) throw new UsageError("exactly one EXPORT is needed; see --help");
  const required = (values.require ?? "")
    .split(",")
    .filter((name) => name !== "")
    .map(verdictName);
  const policy = values.policy === undefined ? null : await readSmall(values.policy);
  const print = (report: Report | ProofReport, text: string): number => {
    const code = exitCode(report.verdicts, report.refused !== null, required, lacksCounterpart(report));
    process.stdout.write(values.json === true ? `${JSON.stringify({ ...report, exitCode: code })}\n` : text);
    return code;
  };
  if (file !== "-" && (await startsWith(file, PROOF_HEADER))) {
    const report = await verifyProof(await readSmall(file, MAX_PROOF_BYTES), policy, nodePlatform);
    return print(report, renderProof(report));
  }
  const known: KnownHead[] = [];
  for (const path of values.known ?? []) known.push(...parseKnown(await readSmall(path)));
  const erasures: ErasureElsewhere[] = [];
  for (const path of values.erasure ?? []) {
    const erasure = erasureElsewhere(await verifyProof(await readSmall(path, MAX_PROOF_BYTES), policy, nodePlatform));
    if (erasure === null) throw new UsageError(`${path} is no proof of an erasure`);
    erasures.push(erasure);
  }
  const releases = new Releases(nodePlatform);
  for (const path of values.release ?? []) releases.add(await readSmall(path, MAX_RELEASE_BYTES));
  const report = await verify({
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
  return print(report, renderText(report));
}

function verdictName(name: string): VerdictName {
  const found = VERDICTS.find((verdict) => verdict === name.toUpperCase());
  if (found === undefined) throw new UsageError(`--require knows ${VERDICTS.join(", ")}, not ${name}`);
  return found;
}

function readNonce(text: string): Uint8Array {
  const nonce = parseNonce(text);
  if (nonce === null) throw new UsageError("--nonce is 32 bytes as 64 hexadecimal digits in lower case");
  return nonce;
}

function readSample(countText: string, filterText: string, hasNonce: boolean): Sample {
  const sample = parseSample(countText, filterText, hasNonce);
  if ("fault" in sample) throw new UsageError(sample.fault);
  return sample;
}

async function readDowntime(path: string): Promise<Downtime[]> {
  const times = parseDowntime((await readSmall(path, MAX_DOWNTIME_BYTES)).toString("utf8"));
  if (times === null) throw new UsageError(`${path} has a line that is not \`FROM TO\` in UTC, FROM before TO`);
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
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`verify: ${escapeText(error instanceof Error ? error.message : String(error))}\n`);
    process.exitCode = EXIT_REFUSED;
  },
);
