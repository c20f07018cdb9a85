/** `app/join-node.sh` of a release: what a new node runs first. It knows the release's own signature verifier by its SHA-256. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { JOIN_SCRIPT } from "@resontech/contracts/node-files";
import { INSTALL_VERIFIER_PLACEHOLDER } from "@resontech/contracts/release-manifest";
import type { StepCache } from "../cache/step-cache.ts";
import type { TreeSource } from "../engines/tree-source.ts";

const SOURCE = join(import.meta.dirname, "..", "..", "..", "join-node.sh");

/** @param verifier file of the release's rt-verify */
export async function joinScript(cache: StepCache, verifier: string): Promise<TreeSource> {
  const source = readFileSync(SOURCE, "utf8");
  if (!source.includes(INSTALL_VERIFIER_PLACEHOLDER))
    throw new Error(`join-node.sh has no ${INSTALL_VERIFIER_PLACEHOLDER}`);
  const sum = createHash("sha256").update(readFileSync(verifier)).digest("hex");
  const script = source.replaceAll(INSTALL_VERIFIER_PLACEHOLDER, sum);
  const folder = await cache.step("script that joins a node", { script }, async (into) =>
    writeFileSync(join(into, "join-node.sh"), script, { mode: 0o755 }),
  );
  return { path: JOIN_SCRIPT, file: join(folder, "join-node.sh"), executable: true };
}
