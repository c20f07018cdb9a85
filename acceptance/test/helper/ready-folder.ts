import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { runChild } from "../../../dev/child.ts";
import type { LocalAppliance } from "../../../dev/local-appliance.ts";
import { Workstation } from "../../../dev/workstation.ts";

/**
 * A ready folder, as the public client renders the example: it submits once, and what it stored is taken back by the shell.
 * @param name of the job that is submitted and cancelled
 */
export async function readyFolder(
  appliance: LocalAppliance,
  { work, folder, name }: { work: string; folder: string; name: string },
): Promise<void> {
  const resontech = (...words: string[]) =>
    runChild(join(appliance.root, "current", "bin", "resontech"), words, {
      env: { PATH: process.env["PATH"], ...appliance.quickstart() },
      quiet: true,
    });
  const workstation = await Workstation.open(appliance, work);
  await workstation.python(["/example/make_shards.py", "--out", "/work"]);
  const { id } = await workstation.submit(() => undefined, ["--name", name, "--detach"]);
  await resontech("jobs", "cancel", id);
  for (const part of ["shards", "scripts", "configs", "requirements"]) {
    const listed = await resontech("storage", "ls", `jobs/${name}/${part}`, "--json");
    for (const line of listed.trim().split("\n")) {
      const { key } = JSON.parse(line) as { key: string };
      const file = join(folder, key.slice(`jobs/${name}/`.length));
      mkdirSync(dirname(file), { recursive: true });
      await resontech("storage", "get", key, file);
    }
  }
}
