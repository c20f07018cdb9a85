import { userOf } from "@resontech/frame/define-part";
import { SYSTEM_PATH } from "../host-tools/tools-environment.ts";
import { filesRun } from "../measure/files-run.ts";
import type { PartContext, ReleaseContext } from "./context.ts";
import type { Part } from "./part.ts";
import type { HeldSocket } from "./held-socket.ts";
import { endLeftover } from "./process-identity.ts";
import { startProcess } from "./process-runner.ts";
import { noteStartedConfig } from "./started-config.ts";

export type ProcessPart = {
  name: string;
  after: readonly string[];
  /** As its declaration says it. */
  user: number;
  program: string;
  args: readonly string[];
  /** What else of the release it loads or hands on; a path that ends in `/` is all below it. @default nothing */
  loads?: readonly string[];
  env?: () => Record<string, string>;
  /** What it reads at its start and is derived for it. @default nothing */
  reads?: readonly string[];
  port: number | null;
  version: string;
  isHealthy: () => Promise<boolean>;
  prepare?: () => Promise<void>;
  isWanted?: () => boolean;
  startTimeoutMs?: number;
  silenceLimitMs?: number;
  /** Where it listens, as descriptor 3. */
  socket?: HeldSocket;
  stopGraceMs?: number;
  /** Where it runs; what it leaves beside itself lies there. @default the root */
  cwd?: string;
  /** See {@link startProcess}. @default −500: without these parts nobody's work goes on */
  oomScore?: number;
};

const VITAL_OOM_SCORE = -500;

/** A part that is a process of the release. */
export function processPart(context: PartContext, { user, ...spec }: ProcessPart): Part {
  return partUnder(userOf(context.config, { user }), context, spec);
}

/** The same of root's, on a host of either kind: an appliance's or a node's. */
export function rootPart(context: ReleaseContext, spec: Omit<ProcessPart, "user">): Part {
  return partUnder(0, context, spec);
}

function partUnder(
  uid: number,
  { layout, release }: ReleaseContext,
  spec: Omit<ProcessPart, "user">,
): Part {
  const stopGraceMs = spec.stopGraceMs ?? 15_000;
  const pidFile = layout.run(`${spec.name}.pid`);
  return {
    name: spec.name,
    after: spec.after,
    endLeftover: () =>
      endLeftover(pidFile, { graceMs: stopGraceMs, stopSignal: "SIGTERM", wholeGroup: true }),
    ...(spec.prepare === undefined ? {} : { prepare: spec.prepare }),
    ...(spec.isWanted === undefined ? {} : { isWanted: spec.isWanted }),
    runs: filesRun({ folder: layout.current, tree: release.tree }, { loads: [], ...spec }),
    start: () => {
      noteStartedConfig(layout, spec.name, spec.reads ?? []);
      return startProcess({
        program: spec.program,
        args: spec.args,
        env: {
          PATH: SYSTEM_PATH,
          LANG: "C.UTF-8",
          ...spec.env?.(),
        },
        uid,
        gid: uid,
        cwd: spec.cwd ?? "/",
        ...(spec.socket === undefined ? {} : { fds: [spec.socket.fd()] }),
        logFile: layout.log(`${spec.name}.log`),
        pidFile,
        oomScore: spec.oomScore ?? VITAL_OOM_SCORE,
      });
    },
    isHealthy: spec.isHealthy,
    startTimeoutMs: spec.startTimeoutMs ?? 60_000,
    ...(spec.silenceLimitMs === undefined ? {} : { silenceLimitMs: spec.silenceLimitMs }),
    stopGraceMs,
    ...(spec.socket === undefined ? {} : { giveUp: () => spec.socket?.close() }),
    port: spec.port,
    version: spec.version,
  };
}
