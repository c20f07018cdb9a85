/**
 * Our processes as they ship, for tests that start them: one compiled file starts with half the CPU of its sources. `npm test` compiles them
 * and says where; a test that somebody runs alone compiles them itself.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";

let folder = process.env["RT_TEST_PROGRAMS"];

/** Path of one program: `auditd`, `coordinator`, `sov-verify`, … as the release names it. */
export function shippedProgram(name: string): string {
  folder ??= execFileSync(process.execPath, [join(import.meta.dirname, "compile-programs.ts")], {
    encoding: "utf8",
  }).trim();
  return join(folder, `${name}.mjs`);
}
