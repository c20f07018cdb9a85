/**
 * A site or its connection is lost while an attempt on real NVFlare runs: the job goes on without the site, and takes its new container in.
 *
 * `npm run prove -- site-losses`
 */
import { jobImage, runUnittest } from "@resontech/agent/testing/python-tests";
import type { ProofContext, ProofResult } from "../proof.ts";

const ENDED = /^(test_\w+) .*\.\.\. (ok|FAIL|ERROR)$/gm;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const image = jobImage();
  if (image === null)
    throw new Error(
      "there is no job image: build a bundle first, or name an interpreter in RT_TEST_PYTHON",
    );
  const ends: { loss: string; isBorne: boolean }[] = [];
  for (const suite of ["Rejoin", "Link"]) {
    const { status, output } = await runUnittest(`test_losses.${suite}`, image);
    const found = [...output.matchAll(ENDED)].map(([, name, end]) => ({
      loss: (name ?? "").replace(/^test_/, ""),
      isBorne: end === "ok",
    }));
    if (status !== 0) progress(output);
    if (found.length === 0) throw new Error(`test_losses.${suite} ran no attempt`);
    for (const { loss, isBorne } of found) progress(`${isBorne ? "borne" : "NOT BORNE"}: ${loss}`);
    ends.push(...found);
  }
  const broken = ends.filter(({ isBorne }) => !isBorne).map(({ loss }) => loss);
  return { ok: broken.length === 0, figures: { losses: ends.length, broken } };
}
