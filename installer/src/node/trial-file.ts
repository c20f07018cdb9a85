/** What the image of the first trial is pulled with: kept until the trial went well, so that a run after a crash still has it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import { TrialPull } from "@resontech/contracts/agent-protocol";
import { reader } from "@resontech/contracts/readable";

const readTrial = reader(TrialPull);
const fileOf = (root: string): string => join(root, "etc", "trial.json");

export function keepTrial(root: string, trial: TrialPull): void {
  writeOwned(fileOf(root), `${JSON.stringify(trial)}\n`, ROOT, 0o600);
}

export function keptTrial(root: string): TrialPull | null {
  const file = fileOf(root);
  return existsSync(file) ? readTrial(JSON.parse(readFileSync(file, "utf8"))) : null;
}

/** The image is here now. */
export function forgetLogin(root: string): void {
  const trial = keptTrial(root);
  if (trial !== null) keepTrial(root, { image: trial.image, username: "", password: "" });
}
