import { createHash } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { StepCache } from "@resontech/airgap/step-cache";
import { runChild } from "@resontech/house/run-child";
import { type LocalAppliance, repository } from "@resontech/house/local-appliance";
import { Workstation } from "@resontech/house/workstation";

const NAME = "rendered";

/**
 * A ready folder, as the public client renders the example: it submits once, and what it stored is taken back by the shell. The same image and
 * example give the same folder, so that is done once.
 */
export async function readyFolder(appliance: LocalAppliance, folder: string): Promise<void> {
  const image = (await appliance.command(["image", "pull", "fl-cpu"])).trim();
  const cache = new StepCache(join(repository, ".cache", "ready-folders"));
  const rendered = await cache.step("ready folder", { image, example: digestOfExample() }, (into) =>
    render(appliance, into),
  );
  cpSync(rendered, folder, { recursive: true });
}

function digestOfExample(): string {
  const example = join(repository, "examples", "digits");
  const hash = createHash("sha256");
  for (const name of readdirSync(example).sort())
    if (name.endsWith(".py")) hash.update(`${name}\0`).update(readFileSync(join(example, name)));
  return hash.digest("hex");
}

async function render(appliance: LocalAppliance, into: string): Promise<void> {
  const resontech = (...words: string[]) =>
    runChild(join(appliance.root, "current", "bin", "resontech"), words, {
      env: { PATH: process.env["PATH"], ...appliance.quickstart() },
      quiet: true,
    });
  const work = mkdtempSync(join(tmpdir(), "rt-rendered-"));
  try {
    const workstation = await Workstation.open(appliance, work);
    await workstation.python(["/example/make_shards.py", "--out", "/work"]);
    const { id } = await workstation.submit(() => undefined, ["--name", NAME, "--detach"]);
    await resontech("jobs", "cancel", id);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  for (const part of ["shards", "scripts", "configs", "requirements"]) {
    const listed = await resontech("storage", "ls", `jobs/${NAME}/${part}`, "--json");
    for (const line of listed.trim().split("\n")) {
      const { key } = JSON.parse(line) as { key: string };
      const file = join(into, key.slice(`jobs/${NAME}/`.length));
      mkdirSync(dirname(file), { recursive: true });
      await resontech("storage", "get", key, file);
    }
  }
}
