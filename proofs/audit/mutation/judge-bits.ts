/** Flips bits of an export one at a time and judges each; a worker thread of the mutation proof. */
import { parentPort, workerData } from "node:worker_threads";
import { nodePlatform, type Report, verify } from "@resontech/audit/verifier/judge";
import { layoutOf, type Stretch } from "./layout.ts";

export type Work = {
  tar: Uint8Array;
  policy: Uint8Array;
  /** Number of a byte times eight, plus the bit. */
  bits: Float64Array;
};
/** Of one part of the archive. */
export type Tally = {
  flipped: number;
  caught: number;
  /** The member, or for a header the byte, stands in what is said. */
  named: number;
  /** Of entries: the very entry is told. */
  exact: number;
  /** What was not caught, or caught and not named: the first few. */
  faults: string[];
};

const MAX_FAULTS = 5;
const { tar, policy, bits } = workerData as Work;
const layout = layoutOf(tar);
const tallies: Record<string, Tally> = {};

for (const bit of bits) {
  const at = Math.floor(bit / 8);
  const stretch = stretchAt(at);
  const flipped = Uint8Array.from(tar);
  flipped[at]! ^= 1 << (bit % 8);
  const report = await verify({ bundle: onePiece(flipped), policy, platform: nodePlatform });
  note(stretch, at, bit % 8, report);
}
parentPort!.postMessage(tallies);

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function note({ part, member, index }: Stretch, at: number, bit: number, report: Report): void {
  const tally = (tallies[part] ??= { flipped: 0, caught: 0, named: 0, exact: 0, faults: [] });
  const failures = Object.values(report.verdicts).filter(({ verdict }) => verdict === "FAIL");
  const said = [report.refused ?? "", ...failures.map(({ reason }) => reason)].join(" | ");
  const isCaught = report.refused !== null || failures.length > 0;
  const isNamed = isCaught && names(said, part, member, at);
  tally.flipped += 1;
  tally.caught += isCaught ? 1 : 0;
  tally.named += isNamed ? 1 : 0;
  tally.exact += index !== null && failures.some((failure) => failure.index === index) ? 1 : 0;
  if (!isNamed && tally.faults.length < MAX_FAULTS)
    tally.faults.push(`${member} byte ${at} bit ${bit}: ${said || "NOTHING SAID"}`);
}

/** Whether who reads it knows where to look. */
function names(said: string, part: Stretch["part"], member: string, at: number): boolean {
  const byte = /at byte (\d+)/.exec(said)?.[1];
  const isAtByte = byte !== undefined && at >= Number(byte) && at < Number(byte) + 512;
  if (isAtByte) return true;
  if (part === "end") return /end of the archive|more members/.test(said);
  return member === "checkpoint" ? /checkpoint|signature/.test(said) : said.includes(member);
}

function stretchAt(at: number): Stretch {
  let [low, high] = [0, layout.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (layout[middle]!.from <= at) low = middle;
    else high = middle - 1;
  }
  return layout[low]!;
}
