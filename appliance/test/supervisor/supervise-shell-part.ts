/** A supervisor as a process of its own, so that a test can kill it: one part, which tells when a second of it runs, and goes on after a SIGINT. */
import { join } from "node:path";
import { pino } from "pino";
import { Supervisor } from "../../src/supervisor/supervisor.ts";
import { shellPart } from "./shell-part.ts";

const dir = process.argv[2] ?? "";
const mark = join(dir, "running");
// The folder is the test's: a part that finds the mark of a living one says so.
const script = `echo begin; mkdir ${mark} 2>/dev/null || echo twice; trap 'rmdir ${mark}; exit 0' TERM; while :; do sleep 0.1; done`;
const supervisor = new Supervisor(
  [{ ...shellPart(dir, "only", script) }],
  dir,
  pino({ level: "silent" }),
);
process.on("SIGTERM", () => supervisor.stop());
process.on("SIGINT", () => {
  supervisor.keep(["only"]);
  supervisor.stop();
});
await supervisor.run();
