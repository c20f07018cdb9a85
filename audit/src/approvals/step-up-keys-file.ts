import { open } from "node:fs/promises";
import { StepUpKeys } from "@resontech/contracts/step-up-keys";
import { Compile } from "typebox/compile";

const GROUP_AND_OTHERS_WRITE = 0o022;
const keys = Compile(StepUpKeys);

/**
 * The keys as root pinned them, read anew each time: a rotation needs no restart. Null where there are none yet, or somebody but root, or the process
 * itself where it is not root's, could have written them.
 */
export async function readStepUpKeys(path: string): Promise<StepUpKeys | null> {
  try {
    await using file = await open(path, "r");
    const { mode, uid } = await file.stat();
    if ((mode & GROUP_AND_OTHERS_WRITE) !== 0 || (uid !== 0 && uid !== process.geteuid?.()))
      return null;
    const found: unknown = JSON.parse(await file.readFile("utf8"));
    return keys.Check(found) ? found : null;
  } catch {
    return null;
  }
}
