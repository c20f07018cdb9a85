/**
 * The files of tests that try a property with `checkProperty`, each property as often as it says: short forms run in `npm test`.
 *
 * `npm run prove -- properties`
 */
import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LONG } from "@resontech/house/check-property";
import type { ProofContext, ProofResult } from "../proof.ts";

const repository = join(import.meta.dirname, "..", "..");
const TRIED = /\bcheckProperty\(/g;
/** Of one file; tap's own limit is half a minute. */
const LIMIT_S = 1_800;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const files = globSync(["*/test/**/*.test.ts", "parts/*/test/**/*.test.ts"], { cwd: repository })
    .filter((file) => !file.includes("node_modules"))
    .map((file) => ({ file, tried: countOf(file) }))
    .filter(({ tried }) => tried > 0);
  const broken: string[] = [];
  for (const { file } of files) {
    const { code, output } = await longForm(file);
    if (code !== 0) broken.push(file);
    progress(`${file}: ${code === 0 ? "each holds" : output.slice(-3_000)}`);
  }
  const properties = files.reduce((sum, { tried }) => sum + tried, 0);
  return {
    ok: properties > 0 && broken.length === 0,
    figures: { properties, files: files.length, broken },
  };
}

function countOf(file: string): number {
  return readFileSync(join(repository, file), "utf8").match(TRIED)?.length ?? 0;
}

async function longForm(file: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(repository, file)], {
    cwd: repository,
    env: { ...process.env, [LONG]: "1", TAP_TIMEOUT: String(LIMIT_S) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, output };
}
