/**
 * Nothing that an auditor can hand to the verifier brings it down: no crash, no hang, no memory over the limit, and no altered export that passes. Exports,
 * proofs, policies, kept checkpoints, erasures and announced times, made of real logs by seeded changes, or of logs under the fuzzer's own keys so that
 * hashes and signatures hold; inputs that reach code that none had reached are changed further. Most are judged by the verifier's code in processes that
 * are watched, some by the shipped program as well, under four majors of Node in turns, which must say the same; large ones by the program alone. Before that it is shown that a judge that
 * throws, loops, allocates or passes everything is noticed.
 *
 * `npm run prove -- audit-fuzz [SECONDS [SEED]]` (7200 and 1 unless said); `npm run prove -- audit-fuzz again FOLDER` makes the input of a finding again
 * and judges it
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serialize } from "node:v8";
import { StepCache } from "@resontech/airgap/step-cache";
import { buildApps } from "@resontech/airgap/programs";
import { temporaryRoot } from "./instances/auditd-instance.ts";
import { again } from "./fuzz/again.ts";
import { FuzzRun } from "./fuzz/fuzz-run.ts";
import { makeSamples } from "./fuzz/samples.ts";
import { nodeBuilds } from "./instances/node-builds.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";

const CACHE = join(import.meta.dirname, "../../.cache/airgap");
const DEFAULT_SECONDS = 7_200;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const program = join(await buildApps(new StepCache(CACHE)), "app/sov-verify.mjs");
  if (args[0] === "again") return await again(args[1] ?? "", program, progress);
  const seconds = Number(args[0] ?? DEFAULT_SECONDS);
  const seed = Number(args[1] ?? 1);
  const root = temporaryRoot();
  try {
    const samples = await makeSamples(join(root, "logs"), seededRandom(seed));
    const samplesFile = join(root, "samples");
    writeFileSync(samplesFile, serialize(samples));
    progress(
      `seed ${seed}: ${samples.exports.length} exports and ${samples.proofs.length} proofs of real logs to begin with`,
    );
    const nodes = nodeBuilds(join(CACHE, "../node-builds"));
    const run = new FuzzRun({ root, samples, samplesFile, seed, program, nodes, progress });
    const notices = await run.notices();
    progress(`broken judges: ${JSON.stringify(notices)}`);
    await run.fuzz(seconds);
    const { passes, ...others } = notices;
    const harnessNotices = Object.values(others).filter(Boolean).length;
    const { figures, isSound } = run.result();
    return {
      ok: isSound && harnessNotices === 3 && passes,
      figures: { seed, ...figures, harness_notices: harnessNotices, wrong_pass_noticed: passes },
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}
