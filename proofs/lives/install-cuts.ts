/**
 * An install of a small release in the real format, cut at each fsync and rename of the installer: the same command must go on to the same
 * end, and an uninstall leave nothing.
 *
 *     npm run prove -- install-cuts
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cutAtEach, installUnbroken } from "@resontech/installer/testing/cut-installs";
import type { ProofContext, ProofResult } from "../proof.ts";

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const base = mkdtempSync(join(tmpdir(), "rt-cuts-"));
  // Parts run under users of their own: the preflight asks for that.
  chmodSync(base, 0o755);
  try {
    const { unbroken, points } = await installUnbroken(base);
    for (const { place, ended } of unbroken) {
      if (ended.status !== 0)
        throw new Error(`an install that nobody cut ended with ${ended.status}: ${ended.stderr}`);
      await place.uninstall();
    }
    const all = Array.from({ length: points }, (_, at) => at + 1);
    const outcomes = await cutAtEach(unbroken, all, ({ point, faults }) =>
      progress(
        `cut at ${point} of ${points}: ${faults.length === 0 ? "as it should be" : faults.join("; ")}`,
      ),
    );
    const faulty = outcomes.filter(({ faults }) => faults.length > 0);
    return {
      ok: points > 0 && outcomes.length === points && faulty.length === 0,
      figures: { points, faulty },
    };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
