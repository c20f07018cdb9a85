/** A Python file that submits by itself, with the public client that is installed here. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";

const PYTHON = "python3";

/** @returns its exit code @throws CliError `client_missing` */
export async function runClient(settings: Settings, file: string): Promise<number> {
  const asked = spawnSync(PYTHON, ["-c", "import resontech"], { stdio: "ignore" });
  if (asked.status !== 0)
    throw new CliError(
      "client_missing",
      `${PYTHON} has no package resontech`,
      "Install it: pip install resontech==0.3.0. A ready folder needs none.",
    );
  const child = spawn(PYTHON, [file], {
    stdio: "inherit",
    env: {
      ...process.env,
      RESON_API_KEY: await settings.credential(),
      RESON_BASE_URL: settings.baseUrl.origin,
    },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}
