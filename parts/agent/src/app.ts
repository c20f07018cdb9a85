/** Composition of one node's agent: who it is, what it has, what it keeps to, what it runs. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import {
  type InventoryWorker,
  type NodeRegistered,
  RENEW_SINCE,
  TRIAL_SINCE,
} from "@resontech/contracts/agent-protocol";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import type { Logger } from "pino";
import { pumpJournal } from "./audit/journal-pump.ts";
import { NodeRecords } from "./audit/node-records.ts";
import { SignedJournal } from "./audit/signed-journal.ts";
import { bootId, bootTimeNs } from "./boot-clock.ts";
import { CoordinatorClient } from "./bus/coordinator-client.ts";
import { freeBytesOf, InputCache } from "./cache/input-cache.ts";
import { NodeDisk } from "./disk/node-disk.ts";
import { DeviceHealth } from "./health/device-health.ts";
import { KernelLog } from "./health/kernel-log.ts";
import { DoorTrust } from "./join/door-trust.ts";
import { renewInTime } from "./join/next-certificate.ts";
import { ensureIdentity, hasIdentity } from "./join/node-identity.ts";
import { LeaseFile, leaseFolder } from "./lease/lease-file.ts";
import { LeaseKeeper } from "./lease/lease-keeper.ts";
import type { MemberTools } from "./members/member-context.ts";
import { MemberSet } from "./members/member-set.ts";
import { MemberStore } from "./members/member-record.ts";
import { MemberUsages } from "./members/member-usages.ts";
import { TailLimit } from "./members/tail-limit.ts";
import { Uploader } from "./outputs/uploader.ts";
import { Accelerators } from "./probes/accelerators.ts";
import { inventoryDigest, readInventory } from "./probes/inventory.ts";
import { readNodeUse } from "./probes/node-use.ts";
import { PROBES } from "./probes/probes.ts";
import { requireFitNode } from "./probes/require-fit-node.ts";
import { ReportPump } from "./report-pump.ts";
import { ContainerHost } from "./substrate/container-host/container-host.ts";
import { whyNotGiven } from "./substrate/container-host/devices/why-not-given.ts";
import { runTrial } from "./trials/run-trial.ts";
import { WorkerTrials } from "./trials/worker-trials.ts";
import { NodeUpgrader } from "./upgrade/node-upgrader.ts";
import { Wake } from "./wake.ts";

const PROBE_MS = 60_000;
/** While a member holds a device: what it does is told while the job runs. */
const DEVICE_MS = 30_000;
const KERNEL_MS = 1_000;
const DISK_MS = 1_000;
const MEMORY_MS = 1_000;
const NETWORK_MS = 2_000;
const TRIAL_MS = 60_000;

/** Opens the kernel's log; null where it can't be read: faults are then told by the vendors' tools alone. */
function openKernelLog(log: Logger): KernelLog | null {
  try {
    return new KernelLog();
  } catch (error) {
    log.warn({ err: error }, "the kernel's log can't be read");
    return null;
  }
}

/** Writes what whoever installs the node is told: see `NodeRegistered`. A full disk keeps nobody from working. */
function tellRegistered(dataDir: string, told: NodeRegistered): void {
  try {
    replaceFileNow(join(dataDir, "registered.json"), JSON.stringify(told), 0o600);
  } catch {
    // It is read once, by an installer that then says that it is missing.
  }
}

/**
 * Works until the signal. Containers are left running: the next agent process takes them up again, within their lease.
 * @param startAnew gives the signal: the node has a new certificate
 */
export async function runAgent(
  config: AgentConfig,
  log: Logger,
  signal: AbortSignal,
  startAnew: () => void,
): Promise<void> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  requireFitNode(config.dataDir, !hasIdentity(config));
  const diskWake = new Wake();
  const disk = new NodeDisk(config.dataDir, () => diskWake.now());
  const identity = await ensureIdentity(config, log, signal);
  const doorTrust = new DoorTrust(config);
  const health = new DeviceHealth(config.dataDir, bootId());
  const kernelLog = openKernelLog(log);
  // What happened before is known before the first look.
  const hearKernel = (): boolean =>
    (kernelLog?.read() ?? []).filter((record) => health.hear(record)).length > 0;
  const accelerators = new Accelerators(PROBES, health);
  const probed = {
    ...{ ...config, containerEngine: config.containerEngine.kind, accelerators },
    whyNotGiven: (worker: InventoryWorker) => whyNotGiven(config.containerEngine.kind, [worker]),
    onProbeError: (error: unknown) =>
      log.error({ err: error }, "an accelerator's tool does not answer"),
  };
  const trials = new WorkerTrials(config.dataDir, config.tryProcessors ?? false);
  let found = await readInventory(probed);
  const probeWake = new Wake();
  const trialWake = new Wake();
  const renewalWake = new Wake();
  let agreedProtocol = 0;
  if (hearKernel()) found = await readInventory(probed);
  let inventory = trials.mark(found);

  const coordinator = await CoordinatorClient.connect(config.node, {
    servers: identity.natsUrl,
    tls: { ca: doorTrust.root, cert: identity.certPem, key: identity.keyPem },
  });
  const auditWake = new Wake();
  using journal = new SignedJournal({
    ...config,
    keyPem: identity.keyPem,
    onAppend: () => auditWake.now(),
  });
  const records = new NodeRecords(journal, config.node);
  const leaseFile = new LeaseFile(leaseFolder(config.instance), disk);
  const store = new MemberStore(config.dataDir, disk);
  const substrate = new ContainerHost({
    ...{ config, accelerators, log },
    identity: { certPem: identity.certPem, keyPem: identity.keyPem, rootCertPem: doorTrust.root },
    leaseDir: leaseFile.folder,
    folderOf: (member) => store.directory(member),
  });
  const cache = new InputCache({
    folder: store.inputCacheFolder,
    freeBytes: () => freeBytesOf(config.dataDir),
    now: () => Date.now(),
    log,
  });
  const usages = new MemberUsages(() => lease.beatSoon());
  const tools: MemberTools = {
    store,
    coordinator,
    substrate,
    uploader: new Uploader(
      coordinator,
      () => doorTrust.ca,
      (ref, output) => {
        const desired = members.journals().find(({ state }) => state.desired.member === ref.member)
          ?.state.desired;
        if (desired !== undefined) records.output(desired, output);
      },
    ),
    tailLimit: new TailLimit(),
    ...{ usages, cache },
    doorCa: () => doorTrust.ca,
    bootId: bootId(),
    log,
    records,
    onReport: () => pump.wake(),
  };
  const members: MemberSet = new MemberSet(
    tools,
    () => lease.verdict === "work" && !disk.isFull && !journal.isFull,
  );
  const pump = new ReportPump({
    coordinator,
    journals: () => members.journals(),
    onStale: (member) => members.withdraw(member),
    log,
  });
  const upgrader =
    config.upgrade === undefined
      ? null
      : new NodeUpgrader({
          ...{ ...config.upgrade, dataDir: config.dataDir, log },
          onFailure: () => lease.registerSoon(),
        });
  const lease: LeaseKeeper = new LeaseKeeper({
    coordinator,
    file: leaseFile,
    dataDir: config.dataDir,
    bootId: tools.bootId,
    clock: bootTimeNs,
    inventory: () => inventory,
    bridge: { address: config.address, ports: config.jobPorts },
    held: () => members.held(),
    onRegistered: (protocol) => {
      agreedProtocol = protocol;
      renewalWake.now();
      const { workers } = inventory;
      tellRegistered(config.dataDir, { workers, trials: trials.told(found) });
      members.look();
      if (trials.want(protocol >= TRIAL_SINCE)) probeWake.now();
      trialWake.now();
    },
    onDesiredVersion: (version) => members.lookFor(version),
    deviceUses: () => accelerators.uses(),
    uses: (held) => {
      const told = usages.tell(held);
      const kept = cache.inUseBytes;
      const node = {
        ...readNodeUse(config.dataDir),
        ...(kept === null ? {} : { cacheInUseBytes: kept }),
      };
      return told === undefined ? { node } : { members: told, node };
    },
    trusts: () => doorTrust.sha256,
    onDoorAuthorities: (pem) => {
      try {
        doorTrust.take(pem);
        log.info({ sha256: doorTrust.sha256 }, "others vouch for the appliance's doors now");
      } catch (error) {
        log.error({ err: error }, "who vouches for the appliance's doors could not be kept");
      }
    },
    release: config.upgrade?.release,
    upgradeFailed: () => upgrader?.failure(),
    onUpgrade: (wish) => upgrader?.take(wish),
    onUndrains: (times) => {
      if (!health.undrained(times)) return;
      trials.undrained();
      trialWake.now();
      log.info("an operator says that the node is well: its devices are looked at anew");
      probeWake.now();
    },
    onLost: () => {
      const held = members.held().length;
      members.stopAll();
      try {
        records.leaseLost(held);
      } catch (error) {
        log.error({ err: error }, "that the lease was lost could not be recorded");
      }
    },
    log,
  });

  const watchDisk = async (): Promise<void> => {
    for (let wasFull = false; !signal.aborted; await diskWake.within(DISK_MS, signal)) {
      cache.makeRoom();
      const isFull = disk.check();
      // Again and again while it lasts: one that was under way may have been begun meanwhile.
      if (isFull) members.endForFullDisk();
      if (isFull !== wasFull) {
        log[isFull ? "error" : "info"](
          { dataDir: config.dataDir },
          isFull ? "the disk is full: every member ends" : "the disk has room again",
        );
        lease.beatSoon();
        members.look();
      }
      wasFull = isFull;
    }
  };

  const watchMemory = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(MEMORY_MS, undefined, { signal }).catch(() => undefined);
      usages.watchMemory();
    }
  };

  const watchNetworks = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(NETWORK_MS, undefined, { signal }).catch(() => undefined);
      try {
        if (!(await substrate.closeNetworks()))
          log.warn("the host was open to the networks of its jobs: closed again");
      } catch (error) {
        log.error(
          { err: error },
          "the host can't be closed to the networks of its jobs: every member ends",
        );
        members.endForOpenNetwork();
      }
    }
  };

  const probeForEver = async (): Promise<void> => {
    while (!signal.aborted) {
      await probeWake.within(PROBE_MS, signal);
      try {
        found = await readInventory(probed);
        const marked = trials.mark(found);
        // An unchanged node keeps the very object that its registration told.
        if (inventoryDigest(marked) === inventoryDigest(inventory)) continue;
        inventory = marked;
        lease.beatSoon();
      } catch (error) {
        log.error({ err: error }, "the node's inventory could not be read");
      }
    }
  };

  const watchDevices = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(DEVICE_MS, undefined, { signal }).catch(() => undefined);
      const held = members.workersHeld();
      if (signal.aborted || !accelerators.workers.some(({ id }) => held.has(id))) continue;
      try {
        // A tool that does not answer is told of by the look of each minute.
        await accelerators.read();
      } catch (error) {
        log.error({ err: error }, "the node's devices could not be asked");
      }
    }
  };

  const tryWorkers = async (): Promise<void> => {
    const tried = {
      ...{ substrate, store, log },
      ask: (worker: string) => coordinator.trial(worker),
    };
    while (!signal.aborted) {
      await trialWake.within(TRIAL_MS, signal);
      for (const worker of trials.due(found, members.workersHeld(), performance.now())) {
        if (signal.aborted || lease.verdict !== "work" || disk.isFull) break;
        log.info({ worker: worker.id }, "a worker is tried");
        const { words } = trials;
        try {
          const result = await runTrial(tried, worker, signal);
          log.info({ worker: worker.id, ...result }, "a worker was tried");
          trials.note(worker, result, performance.now(), words);
        } catch (error) {
          if (!signal.aborted) log.error({ err: error, worker: worker.id }, "a trial broke off");
        }
        probeWake.now();
      }
    }
  };

  const renewCertificate = async (): Promise<void> => {
    const renew = () =>
      agreedProtocol >= RENEW_SINCE ? (csr: string) => coordinator.renew(csr) : null;
    await renewInTime({ ...config, renew, wake: renewalWake, log }, signal);
    startAnew();
  };

  const watchKernel = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(KERNEL_MS, undefined, { signal }).catch(() => undefined);
      if (!hearKernel()) continue;
      log.error("the kernel tells of an accelerator's fault");
      probeWake.now();
    }
  };

  await members.resume(signal);
  const hints = coordinator.onHint(({ about }) =>
    about === "beat" ? lease.beatSoon() : members.look(),
  );
  try {
    const signed = { coordinator, journal, certChain: identity.certPem, wake: auditWake, log };
    await Promise.all([
      pumpJournal(signed, signal),
      lease.run(signal),
      pump.run(signal),
      members.run(signal),
      probeForEver(),
      watchDevices(),
      tryWorkers(),
      watchKernel(),
      renewCertificate(),
      watchDisk(),
      watchMemory(),
      watchNetworks(),
    ]);
  } finally {
    hints.unsubscribe();
    await coordinator.close();
  }
}
