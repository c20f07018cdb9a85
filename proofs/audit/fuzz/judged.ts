/** The verifier's own code on one input, as its command line uses it, and what must hold of every answer. */
import {
  erasureElsewhere,
  type ErasureElsewhere,
  exitCode,
  lacksCounterpart,
  MAX_DOWNTIME_BYTES,
  MAX_PROOF_BYTES,
  MAX_RELEASE_BYTES,
  nodePlatform,
  parseDowntime,
  parseKnown,
  parseNonce,
  parseSample,
  PROOF_HEADER,
  type ProofReport,
  Refused,
  Releases,
  renderProof,
  renderText,
  type Report,
  verify,
  verifyProof,
} from "@resontech/verifier/judge";
import type { Input } from "./input.ts";

/** `report`: null where the command line ends before it has one. */
export type Judged = { code: number; report: (Report | ProofReport) | null; text: string };
export type Judge = (input: Input) => Promise<Judged>;

const REFUSED: Judged = { code: 64, report: null, text: "" };
/** What may not reach a terminal, but for the line's end. */
const MISLEADING = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/u;

export async function judged(input: Input): Promise<Judged> {
  try {
    return await judgedAnyhow(input);
  } catch (error) {
    if (error instanceof Refused) return REFUSED;
    throw error;
  }
}

async function judgedAnyhow({
  file,
  policy,
  known,
  erasures,
  releases,
  downtime,
  nonce,
  sample,
  required,
  chunkBytes,
  isPiped,
}: Input): Promise<Judged> {
  if (!isPiped && file.subarray(0, PROOF_HEADER.length).toString("latin1") === PROOF_HEADER) {
    if (file.length > MAX_PROOF_BYTES) return REFUSED;
    const report = await verifyProof(file, policy, nodePlatform);
    return {
      code: exitCode(report.verdicts, report.refused !== null, required),
      report,
      text: renderProof(report),
    };
  }
  if (downtime !== null && downtime.length > MAX_DOWNTIME_BYTES) return REFUSED;
  const heads = known.flatMap((one) => parseKnown(one));
  const elsewhere: ErasureElsewhere[] = [];
  for (const proof of erasures) {
    const erasure = erasureElsewhere(await verifyProof(proof, policy, nodePlatform));
    if (erasure === null) return REFUSED;
    elsewhere.push(erasure);
  }
  const times = downtime === null ? null : parseDowntime(downtime.toString("utf8"));
  const held = new Releases(nodePlatform);
  for (const release of releases) {
    if (release.length > MAX_RELEASE_BYTES) return REFUSED;
    held.add(release);
  }
  const seed = nonce === null ? null : parseNonce(nonce);
  const drawn = sample === null ? null : parseSample(sample.count, sample.filter, nonce !== null);
  if (
    (downtime !== null && times === null) ||
    (nonce !== null && seed === null) ||
    (drawn !== null && "fault" in drawn)
  )
    return REFUSED;
  const report = await verify({
    bundle: inChunks(file, chunkBytes),
    policy,
    platform: nodePlatform,
    known: heads,
    erasures: elsewhere,
    releases: held,
    downtime: times,
    ...(seed === null ? {} : { nonce: seed }),
    ...(drawn === null ? {} : { sample: drawn }),
  });
  const code = exitCode(
    report.verdicts,
    report.refused !== null,
    required,
    lacksCounterpart(report),
  );
  return { code, report, text: renderText(report) };
}

/** What is wrong with an answer, whatever was asked; null when nothing is. */
export function faultOf({ code, report, text }: Judged): string | null {
  if (!(Number.isInteger(code) && code >= 0 && code <= 65)) return `the exit code ${code} is none`;
  if (MISLEADING.test(text)) return "the text could mislead an eye";
  return holdsNoNumber(report) ? "the report holds a number that is none" : null;
}

function holdsNoNumber(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsNoNumber);
}

/** Copies: a judge may write into what it is given. */
async function* inChunks(bytes: Buffer, chunkBytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes)
    yield Uint8Array.from(bytes.subarray(at, at + chunkBytes));
}
