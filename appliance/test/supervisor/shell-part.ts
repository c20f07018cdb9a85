import { join } from "node:path";
import type { Part } from "../../src/parts/part.ts";
import { endLeftover } from "../../src/parts/process-identity.ts";
import { startProcess } from "../../src/parts/process-runner.ts";

/** A part that is a shell script of its own numeric user. */
export function shellPart(dir: string, name: string, script: string, after: string[] = []): Part {
  const pidFile = join(dir, `${name}.pid`);
  return {
    name,
    after,
    endLeftover: () =>
      endLeftover(pidFile, { graceMs: 2_000, stopSignal: "SIGTERM", wholeGroup: true }),
    start: () =>
      startProcess({
        program: "/bin/sh",
        args: ["-c", script],
        env: { PATH: "/usr/bin:/bin" },
        uid: 64_199,
        gid: 64_199,
        cwd: "/",
        logFile: join(dir, `${name}.log`),
        pidFile,
        oomScore: 0,
      }),
    isHealthy: async () => true,
    startTimeoutMs: 5_000,
    stopGraceMs: 2_000,
    port: null,
    version: "1",
  };
}
