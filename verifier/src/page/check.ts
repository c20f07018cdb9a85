/** One check, by the very code of the file that runs under Node. */
import { textOf } from "../input/bytes.ts";
import { MAX_PROOF_BYTES, PROOF_HEADER, type ProofReport, verifyProof } from "../event-proof.ts";
import { webPlatform } from "../platform/platform-web.ts";
import { exitCode } from "../verdicts.ts";
import { lacksCounterpart, type Report, verify } from "../verify.ts";
import type { Inputs } from "./inputs.ts";
import { piecesOf, readSmall } from "./read-file.ts";

/** As the file's `--json` says it. */
export type Judged = (Report | ProofReport) & { exitCode: number };

/** @throws what the signal was aborted with */
export async function check(
  { file, policy, ...rest }: Inputs,
  onProgress: (entries: number, size: number) => void,
  signal: AbortSignal,
): Promise<Judged> {
  const head = await readSmall(new File([file.slice(0, PROOF_HEADER.length)], file.name), "export");
  if (textOf(head) === PROOF_HEADER)
    return judged(
      await verifyProof(await readSmall(file, "export", MAX_PROOF_BYTES), policy, webPlatform),
    );
  return judged(
    await verify({
      bundle: piecesOf(file, signal),
      policy,
      platform: webPlatform,
      ...rest,
      onProgress,
    }),
  );
}

function judged(report: Report | ProofReport): Judged {
  return {
    ...report,
    exitCode: exitCode(report.verdicts, report.refused !== null, [], lacksCounterpart(report)),
  };
}
