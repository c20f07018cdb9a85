/** What supervisors of either kind of host have in common: one an instance, a log, a socket that answers, an end when it is asked for. */
import { mkdirSync, openSync } from "node:fs";
import { logDestination } from "@resontech/frame/log-destination";
import { type Logger, pino } from "pino";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import { linkHostTools } from "../host-tools/link-host-tools.ts";
import { toolsEnvironment } from "../host-tools/tools-environment.ts";
import type { ReleaseContext } from "../parts/context.ts";
import { listenControl } from "./control.ts";
import type { Supervisor } from "./supervisor.ts";

/** What the work under control is given. */
export type Controlled = {
  log: Logger;
  /** Runs the supervisor until a stop is asked for and every part has ended. */
  run: (supervisor: Supervisor) => Promise<void>;
};

/** Works until SIGTERM, SIGINT or a stop on the control socket. @throws AlreadyRunningError */
export async function underControl(
  { layout, config }: Pick<ReleaseContext, "layout" | "config">,
  work: (controlled: Controlled) => Promise<void>,
): Promise<void> {
  process.umask(0o027);
  using _lock = takeExclusiveLock(layout.run("supervisor.lock"), "a supervisor", [
    layout.release("engines", "rt-lock"),
  ]);
  if (config.hostTools === "bundle") linkHostTools(layout.current, layout.instance);
  Object.assign(process.env, toolsEnvironment(config, layout.current));
  mkdirSync(layout.log(""), { recursive: true, mode: 0o750 });
  const log = pino(
    { name: "supervisor" },
    logDestination(openSync(layout.log("supervisor.log"), "a")),
  );
  const stopAsked = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopAsked.abort());
  const running: { supervisor: Supervisor | null } = { supervisor: null };
  await using _control = await listenControl(
    layout.supervisorSocket,
    {
      status: () => running.supervisor?.status() ?? [],
      stop: () => stopAsked.abort(),
      hold: (parts) => running.supervisor?.hold(parts),
      release: (parts) => running.supervisor?.release(parts),
      keep: (parts) => running.supervisor?.keep(parts),
    },
    log,
  );
  const run = async (supervisor: Supervisor): Promise<void> => {
    running.supervisor = supervisor;
    stopAsked.signal.addEventListener("abort", () => supervisor.stop());
    // It may have been asked for while certificates were made.
    if (stopAsked.signal.aborted) return;
    await supervisor.run();
    log.info("every part has ended");
  };
  await work({ log, run });
}
