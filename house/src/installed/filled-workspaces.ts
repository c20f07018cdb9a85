/** Many workspaces of the digits job in one bucket, ready to be submitted by `taskOf`, behind a job that holds all workers and does nothing. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./local-appliance.ts";
import { Workstation } from "./workstation.ts";
import type { ProofAppliance } from "./proof-appliance.ts";

const SCRIPTS = ["house/src/installed/fill_workspaces.py", "acceptance/test/jobs/slow_model.py"];
const FILL = "/example/fill_workspaces.py";

/** Nothing but submissions goes on afterwards. @param count from `fill-0` on. @returns the id of the job that holds the workers */
export async function fillWorkspaces(
  installed: ProofAppliance,
  name: string,
  count: number,
): Promise<string> {
  await installed.workstation(name);
  const scripts = installed.folder("scripts");
  for (const file of SCRIPTS)
    copyFileSync(join(repository, file), join(scripts, file.slice(file.lastIndexOf("/") + 1)));
  const filler = await Workstation.open(installed.appliance, installed.folder(name), scripts);
  const holding = await filler.events([FILL, "--hold", "--shards", "/work/shards"]);
  await filler.python([FILL, "--from", "hold", "--count", String(count)]);
  return String(holding.at(-1)?.["id"]);
}
