/** Composition: reads the configuration, prepares the host's side, runs every part until it is told to stop. */
import Docker from "dockerode";
import { RUNTIME, runtimeLibraries } from "@resontech/contracts/release-manifest";
import { PARTS } from "@resontech/parts";
import type { Logger } from "pino";
import { SupervisorRecord } from "./audit/supervisor-record.ts";
import { requireNoOpenRestore } from "./backup/restore-appliance.ts";
import { loadConfig } from "./config/load-config.ts";
import { coordinatorAt } from "./first-boot/ask-coordinator.ts";
import { ensureJoinToken } from "./first-boot/first-boot.ts";
import { prepare, writeAgentConfig } from "./first-boot/prepare.ts";
import { followHostSessions } from "./host-sessions/follow-host-sessions.ts";
import { Layout } from "@resontech/frame/layout";
import { pinRealmKeys } from "./keycloak/pin-step-up-keys.ts";
import { compareRealm, watchRealm } from "./keycloak/realm-watch.ts";
import { FileDigests } from "./measure/file-digests.ts";
import { agent } from "@resontech/agent/part";
import type { PartContext } from "./parts/context.ts";
import { declaredPart } from "./parts/declared-part.ts";
import { jobHostOf } from "./parts/job-host-of.ts";
import { awaitingOneAnother, isOnHost } from "./parts/parts-on-host.ts";
import type { Part } from "./parts/part.ts";
import { readRelease } from "./release.ts";
import { runBackups } from "./backup/run-backups.ts";
import { renewDaily } from "./supervisor/renew-certificates.ts";
import { startSupervisor, stopSupervisor } from "./supervisor/detached.ts";
import { reconcileSwitch } from "./supervisor/reconcile-switch.ts";
import { tellPutBack } from "./backup/tell-put-back.ts";
import { Supervisor } from "./supervisor/supervisor.ts";
import { writeFacts } from "./facts/write-facts.ts";
import { underControl } from "./supervisor/under-control.ts";

/** What every command works on. @throws ConfigInvalidError */
export function openContext(root: string): PartContext {
  const config = loadConfig(new Layout(root, "-").configFile, (keys) =>
    process.stderr.write(
      `appliance.json: this release does not know ${keys.join(", ")}, which is passed over\n`,
    ),
  );
  const layout = new Layout(root, config.instance);
  return { config, layout, release: readRelease(layout.current), parts: PARTS };
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

function realmWatch(context: PartContext, record: SupervisorRecord, log: Logger): AsyncDisposable {
  const ended = new AbortController();
  const watching = watchRealm(
    {
      ...{ layout: context.layout, log },
      compare: async () => {
        await pinned(context, record, log);
        return await compareRealm(context);
      },
      told: (differences) => record.drifted(differences),
    },
    ended.signal,
  );
  return {
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await watching;
    },
  };
}

function scheduledBackups({ layout }: PartContext, log: Logger): AsyncDisposable {
  const ended = new AbortController();
  const appliance = [
    ...[layout.release("bin", "node"), layout.release("app", "appliance.mjs")],
    ...["--root", layout.root],
  ];
  const running = runBackups({ layout, appliance, log }, ended.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await running;
    },
  };
}

function putBackTold(
  { layout }: PartContext,
  record: SupervisorRecord,
  log: Logger,
): AsyncDisposable {
  const ended = new AbortController();
  const telling = tellPutBack(layout, (backup) => record.putBack(backup), {
    ...{ log, signal: ended.signal },
  });
  return {
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await telling;
    },
  };
}

function applianceFacts(
  context: PartContext,
  supervisor: Supervisor,
  log: Logger,
): AsyncDisposable {
  const ended = new AbortController();
  const writing = writeFacts(context, () => supervisor.status(), { log, signal: ended.signal });
  return {
    [Symbol.asyncDispose]: async () => {
      ended.abort();
      await writing;
    },
  };
}

/** Tried again at the next look; what was pinned before stays. */
async function pinned(context: PartContext, record: SupervisorRecord, log: Logger): Promise<void> {
  try {
    const change = await pinRealmKeys(context);
    if (change.added + change.retired > 0) record.keysPinned(change);
  } catch (err) {
    log.debug({ err }, "the realm's keys can't be pinned yet");
  }
}

/** What the supervisor itself is. */
const WTMP = "/var/log/wtmp";
const OWN_FILES = ["app/appliance.mjs", RUNTIME];

/** Every part of this appliance, in no order of its own: health decides. */
export function partsOf(context: PartContext): Part[] {
  const { config, layout } = context;
  const socketPath =
    config.containerEngine.kind === "podman" ? layout.podmanSocket : config.containerEngine.socket;
  const containers = {
    engine: new Docker({ socketPath }),
    login: (repository: string) =>
      coordinatorAt(layout.run("coordinator", "control"))("registry-login", { repository }),
  };
  const host = jobHostOf(context);
  const parts = context.parts
    .filter((part) => isOnHost(part, host))
    .map((part) => {
      const declared = declaredPart(context, part, containers);
      return part === agent ? joining(context, declared) : declared;
    });
  return awaitingOneAnother(parts);
}

/** This host's own agent is let in by this host's root. */
function joining(context: PartContext, part: Part): Part {
  return {
    ...part,
    prepare: async () => {
      await part.prepare?.();
      await ensureJoinToken(context);
      writeAgentConfig(context);
    },
  };
}

/** Runs in the foreground until SIGTERM, SIGINT or `appliance stop`. @throws AlreadyRunningError */
export async function supervise(root: string): Promise<void> {
  const context = openContext(root);
  const { layout } = context;
  requireNoOpenRestore(layout);
  await underControl(context, async ({ log, run }) => {
    await prepare(context);
    await using record = new SupervisorRecord(layout.run("audit", "supervisor", "sock"), log);
    const digests = new FileDigests(layout.current);
    using _renewal = renewDaily(context, log);
    await using _sessions = hostSessions(context, record, log);
    await using _realm = realmWatch(context, record, log);
    record.measured("supervisor", {
      files: await digests.of([...OWN_FILES, ...runtimeLibraries(context.release.tree)]),
      image: null,
    });
    const supervisor = new Supervisor(partsOf(context), layout.log(""), log, {
      digests: (paths) => digests.of(paths),
      started: (part, runs) => record.measured(part, runs),
    });
    await using _putBack = putBackTold(context, record, log);
    await using _backups = scheduledBackups(context, log);
    await using _facts = applianceFacts(context, supervisor, log);
    reconcileSwitch(layout);
    log.info({ release: context.release.version }, "supervising");
    await run(supervisor);
  });
}

/** Starts a supervisor that outlives this command. */
export async function startDetached(root: string): Promise<void> {
  const { layout } = openContext(root);
  await startSupervisor(layout, [
    layout.release("app", "appliance.mjs"),
    "--root",
    root,
    "supervise",
  ]);
}

/** See {@link stopSupervisor}. @returns false when nothing ran */
export async function stopAndWait(
  root: string,
  timeoutMs: number,
  kept: readonly string[] = [],
): Promise<boolean> {
  const context = openContext(root);
  return await stopSupervisor(context.layout, () => partsOf(context), timeoutMs, kept);
}
