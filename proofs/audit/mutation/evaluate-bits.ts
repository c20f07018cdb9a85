/** Flips bits of an export one at a time and judges each; a worker thread of the mutation proof. */
import { parentPort, workerData } from "node:worker_threads";
import { type Report, verify } from "@resontech/verifier/judge";
import { flipped } from "./flipped.ts";
import { headOf, layoutOf, type Stretch } from "./layout.ts";
import { rememberingPlatform } from "./remembering-platform.ts";

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
/** By part. */
export type Tallies = Record<string, Tally>;

const MAX_FAULTS = 5;
const { tar, policy, bits } = workerData as Work;
const layout = layoutOf(tar);
const { size } = headOf(tar);
const tallies: Tallies = {};
const platform = rememberingPlatform();

for (const bit of bits) {
  const at = Math.floor(bit / 8);
  const report = await verify({ bundle: flipped(tar, bit), policy, platform });
  note(stretchAt(at), at, bit % 8, report);
}
parentPort!.postMessage(tallies);

function note(stretch: Stretch, at: number, bit: number, report: Report): void {
  const { part, member, index } = stretch;
  const tally = (tallies[part] ??= { flipped: 0, caught: 0, named: 0, exact: 0, faults: [] });
  const failures = Object.values(report.verdicts).filter(({ verdict }) => verdict === "FAIL");
  const said = [report.refused ?? "", ...failures.map(({ reason }) => reason)].join(" | ");
  const isCaught = report.refused !== null || failures.length > 0;
  const isNamed = isCaught && names(said, stretch, at);
  tally.flipped += 1;
  tally.caught += isCaught ? 1 : 0;
  tally.named += isNamed ? 1 : 0;
  tally.exact += index !== null && failures.some((failure) => failure.index === index) ? 1 : 0;
  if (!isNamed && tally.faults.length < MAX_FAULTS)
    tally.faults.push(`${part} of ${member} byte ${at} bit ${bit}: ${said || "NOTHING SAID"}`);
}

/** Whether who reads it knows where to look. */
function names(said: string, { part, member }: Stretch, at: number): boolean {
  const byte = /at byte (\d+)/.exec(said)?.[1];
  const isAtByte = byte !== undefined && at >= Number(byte) && at < Number(byte) + 512;
  if (isAtByte || (member !== "" && member !== "checkpoint" && said.includes(member))) return true;
  if (part === "end") return /end of the archive|more members/.test(said);
  if (part === "opened value" || part === "erasure mark")
    return /disclosure of|does not open its commitment|marked as/.test(said);
  // A witness's line that is nobody's any more is told by the entries that no witness vouches for without it.
  if (member === "checkpoint")
    return /checkpoint|signature/.test(said) || tellsUnwitnessed(said, size);
  if (!part.startsWith("kept ")) return false;
  const keptSize = Number(member.slice("checkpoints/".length));
  return said.includes(`the checkpoint of ${keptSize} entries`) || tellsUnwitnessed(said, keptSize);
}

/** Whether the checkpoint of so many entries would have ended the stretch that is told, or lain in it. */
function tellsUnwitnessed(said: string, checkpointSize: number): boolean {
  const [, from, last] = /no quorum of witnesses .* entries (\d+) to (\d+)/.exec(said) ?? [];
  return from !== undefined && Number(from) < checkpointSize && Number(last) >= checkpointSize - 1;
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
