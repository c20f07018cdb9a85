/** Composition: reads the configuration, prepares the host's side, runs every part until it is told to stop. */
import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import Docker from "dockerode";
import { RUNTIME, runtimeLibraries } from "@resontech/contracts/release-manifest";
import { logDestination } from "@resontech/daemon/log-destination";
import { type Logger, pino } from "pino";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import { readAuditKeys } from "../config/audit-keys.ts";
import { SupervisorRecord } from "../audit/supervisor-record.ts";
import { loadConfig } from "../config/load-config.ts";
import { askCoordinator } from "../first-boot/ask-coordinator.ts";
import { ensureJoinToken } from "../first-boot/first-boot.ts";
import { auditdConfig, prepare, writeAgentConfig } from "../first-boot/prepare.ts";
import { followHostSessions } from "../host-sessions/follow-host-sessions.ts";
import { Layout, uidOf } from "../layout.ts";
import { FileDigests } from "../measure/file-digests.ts";
import type { PartContext } from "../parts/context.ts";
import { keycloakPart, postgresPart } from "../parts/keycloak.ts";
import { natsPart, registryPart, s3Part } from "../parts/native-engines.ts";
import {
  agentPart,
  auditdPart,
  auditOutPart,
  coordinatorPart,
  s3FrontPart,
  vaultPart,
} from "../parts/own-processes.ts";
import { linkHostTools } from "../host-tools/link-host-tools.ts";
import { toolsEnvironment } from "../host-tools/tools-environment.ts";
import type { Part } from "../parts/part.ts";
import { podmanPart, podmanProgram } from "../parts/podman.ts";
import { readRelease } from "../release.ts";
import { runOnce } from "./run-once.ts";
import { askSupervisor, listenControl } from "./control.ts";
import { Supervisor } from "./supervisor.ts";
import { isManagedBySystemd, systemctl, unitName } from "./systemd-unit.ts";

/** What every command works on. @throws ConfigInvalidError */
export function openContext(root: string): PartContext {
  const config = loadConfig(new Layout(root, "-").configFile, (keys) =>
    process.stderr.write(
      `appliance.json: this release does not know ${keys.join(", ")}, which is passed over\n`,
    ),
  );
  const layout = new Layout(root, config.instance);
  return { config, layout, release: readRelease(layout.current) };
}

/** Ends with the supervisor, before its line to auditd does. */
function hostSessions(
  { layout }: PartContext,
  record: SupervisorRecord,
  log: Logger,
): AsyncDisposable {
  const ended = new AbortController();
  const following = followHostSessions({
    wtmpFile: WTMP,
    stateFile: layout.data("supervisor", "host-sessions.json"),
    record: (draft, disclosures) => record.observed(draft, disclosures),
    ...{ log, signal: ended.signal },
  });
  return {
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await following;
    },
  };
}

/** What the supervisor itself is. */
const WTMP = "/var/log/wtmp";
const OWN_FILES = ["app/appliance.mjs", RUNTIME];

/** Every part of this appliance, in no order of its own: health decides. */
export function partsOf(context: PartContext): Part[] {
  const { config, layout } = context;
  const socketPath =
    config.containerEngine.kind === "podman" ? layout.podmanSocket : config.containerEngine.socket;
  const container = {
    engine: new Docker({ socketPath }),
    login: (repository: string) =>
      askCoordinator(layout.run("coordinator", "control"), { verb: "registry-login", repository }),
  };
  const audit = auditdPart(context);
  const parts: Part[] = [
    natsPart(context),
    s3Part(context),
    registryPart(context),
    {
      ...audit,
      prepare: async () => {
        await audit.prepare?.();
        await initAudit(context);
      },
    },
    auditOutPart(context),
    vaultPart(context),
    s3FrontPart(context),
    coordinatorPart(context),
  ];
  if (config.containerEngine.kind === "podman")
    parts.push(podmanPart(context, () => readFileSync(layout.rootCert), podmanVersion(context)));
  parts.push(postgresPart(context, container), keycloakPart(context, container));
  if (config.agent !== null) {
    const agent = agentPart(context);
    parts.push({
      ...agent,
      prepare: async () => {
        await agent.prepare?.();
        await ensureJoinToken(context);
        writeAgentConfig(context);
      },
    });
  }
  return parts;
}

/** The ceremony that makes key, policy and empty log; a log that is there stays. */
async function initAudit(context: PartContext): Promise<void> {
  const { config, layout } = context;
  const uid = uidOf(config, "auditd");
  if (existsSync(auditdConfig(context).policyFile)) return;
  await runOnce(
    layout.release("bin", "node"),
    [layout.release("app", "auditd.mjs"), "init", "--config", layout.processConfig("auditd")],
    uid,
    readAuditKeys(layout)?.environment,
  );
}

function podmanVersion(context: PartContext): string {
  return (
    execFileSync(podmanProgram(context), ["--version"], { encoding: "utf8" })
      .trim()
      .split(" ")
      .at(-1) ?? ""
  );
}

/** Runs in the foreground until SIGTERM, SIGINT or `appliance stop`. @throws AlreadyRunningError */
export async function supervise(root: string): Promise<void> {
  process.umask(0o027);
  const context = openContext(root);
  const { layout } = context;
  using _lock = takeExclusiveLock(layout.run("supervisor.lock"), "a supervisor", [
    layout.release("engines", "rt-lock"),
  ]);
  if (context.config.hostTools === "bundle") linkHostTools(layout.current, layout.instance);
  Object.assign(process.env, toolsEnvironment(context.config, layout.current));
  mkdirSync(layout.log(""), { recursive: true, mode: 0o750 });
  const log = pino(
    { name: "supervisor" },
    logDestination(openSync(layout.log("supervisor.log"), "a")),
  );
  const stopAsked = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopAsked.abort());
  const running: { supervisor: Supervisor | null } = { supervisor: null };
  const control = await listenControl(layout.run("supervisor.sock"), (request) => {
    const { supervisor } = running;
    if (request.verb === "stop" && request.parts === undefined) stopAsked.abort();
    if (request.verb === "stop" && request.parts !== undefined) supervisor?.hold(request.parts);
    if (request.verb === "start") supervisor?.release(request.parts);
    return { parts: supervisor?.status() ?? [] };
  });
  try {
    await prepare(context);
    await using record = new SupervisorRecord(layout.run("audit", "supervisor", "sock"), log);
    const digests = new FileDigests(layout.current);
    await using _sessions = hostSessions(context, record, log);
    record.measured("supervisor", {
      files: await digests.of([...OWN_FILES, ...runtimeLibraries(context.release.tree)]),
      image: null,
    });
    const supervisor = new Supervisor(partsOf(context), layout.log(""), log, {
      digests: (paths) => digests.of(paths),
      started: (part, runs) => record.measured(part, runs),
    });
    running.supervisor = supervisor;
    stopAsked.signal.addEventListener("abort", () => supervisor.stop());
    // It may have been asked for while certificates were made.
    if (stopAsked.signal.aborted) return;
    log.info({ release: context.release.version }, "supervising");
    await supervisor.run();
    log.info("every part has ended");
  } finally {
    control.close();
  }
}

/** Starts a supervisor that outlives this command: systemd's unit where there is one, else a process of its own. */
export async function startDetached(root: string): Promise<void> {
  const { layout } = openContext(root);
  const socket = layout.run("supervisor.sock");
  if ((await askSupervisor(socket, { verb: "status" })) !== null) return;
  if (isManagedBySystemd(layout.instance)) {
    systemctl("start", unitName(layout.instance));
    return;
  }
  mkdirSync(layout.log(""), { recursive: true, mode: 0o750 });
  const log = openSync(layout.log("supervisor.out.log"), "a", 0o640);
  const child = spawn(
    layout.release("bin", "node"),
    [layout.release("app", "appliance.mjs"), "--root", root, "supervise"],
    {
      detached: true,
      stdio: ["ignore", log, log],
      cwd: "/",
      env: {
        PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        LANG: "C.UTF-8",
      },
    },
  );
  closeSync(log);
  child.unref();
  let ended: string | null = null;
  child.once("exit", (code, signal) => {
    ended = signal ?? `exit ${code ?? "?"}`;
  });
  for (let waitedMs = 0; waitedMs < 15_000; waitedMs += 100) {
    if ((await askSupervisor(socket, { verb: "status" })) !== null) return;
    if (ended !== null) break;
    await sleep(100);
  }
  throw new Error(
    `the supervisor did not start (${ended ?? "no answer"}); see ${layout.log("supervisor.out.log")}`,
  );
}

/**
 * Asks the supervisor to stop everything and waits until it has. Where none runs, what a killed one left is ended in the same order.
 *
 * @returns false when nothing ran
 */
export async function stopAndWait(root: string, timeoutMs: number): Promise<boolean> {
  const context = openContext(root);
  const { layout } = context;
  const socket = layout.run("supervisor.sock");
  const wasRunning = (await askSupervisor(socket, { verb: "status" })) !== null;
  // Else systemd would take the end for a crash and start it again.
  if (isManagedBySystemd(layout.instance)) systemctl("stop", unitName(layout.instance));
  if ((await askSupervisor(socket, { verb: "stop" })) === null)
    return (await endLeftovers(context)) || wasRunning;
  for (let waitedMs = 0; waitedMs < timeoutMs; waitedMs += 200) {
    if ((await askSupervisor(socket, { verb: "status" })) === null) return true;
    await sleep(200);
  }
  throw new Error(
    `parts are still stopping after ${timeoutMs / 1000} s; see ${layout.log("supervisor.log")}`,
  );
}

/** Under the lock: a supervisor that starts meanwhile must not meet us. Reverse order of definition is reverse order of need. */
async function endLeftovers(context: PartContext): Promise<boolean> {
  const { layout } = context;
  const parts = partsOf(context).toReversed();
  const left = parts.filter((part) => existsSync(layout.run(`${part.name}.pid`)));
  if (left.length === 0) return false;
  using _lock = takeExclusiveLock(layout.run("supervisor.lock"), "a supervisor", [
    layout.release("engines", "rt-lock"),
  ]);
  for (const part of left) await part.endLeftover();
  return true;
}
