/**
 * Runs made histories, with a planted bug where one is named, and prints one JSON line: what they did, and what broke.
 * Arguments: kind, first seed, how many, events of each, place of the bug in the list or -1.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { PLANTED_BUGS } from "./planted-bugs.ts";

const [kind = "fleet", ...numbers] = process.argv.slice(2);
const [first = 0, count = 0, events = 0, place = -1] = numbers.map(Number);
const bug = PLANTED_BUGS[place];
let planted = 0;
if (bug !== undefined)
  registerHooks({
    load(url, context, next) {
      if (!url.endsWith(`/coordinator/src/kernel/${bug.file}`)) return next(url, context);
      const source = readFileSync(fileURLToPath(url), "utf8");
      // The place must be there, and once: a bug that is planted nowhere would be found by nobody.
      if (source.split(bug.from).length !== 2) throw new Error(`${bug.file} has no place for it`);
      planted += 1;
      return {
        ...{ format: "module-typescript", shortCircuit: true },
        source: source.replace(bug.from, () => bug.to),
      };
    },
  });
const { plan } = await import("@resontech/coordinator/placement");
const { runFleetHistory } = await import("@resontech/coordinator/testing/fleet-history");
const { runKernelHistory } = await import("@resontech/coordinator/testing/kernel-history");

const counts: Record<string, number> = {};
const broken: string[] = [];
const seeds = Array.from({ length: count }, (_, at) => first + at);
for (const seed of seeds)
  try {
    const found =
      kind === "fleet" ? runFleetHistory(seed, events, plan) : await runKernelHistory(seed, events);
    for (const [name, value] of Object.entries(found)) counts[name] = (counts[name] ?? 0) + value;
  } catch (error) {
    broken.push((error as Error).message);
    if (bug !== undefined) break;
  }
if (bug !== undefined && planted === 0) throw new Error(`${bug.file} was not loaded`);
process.stdout.write(`${JSON.stringify({ counts, broken })}\n`);
process.exit(0);
