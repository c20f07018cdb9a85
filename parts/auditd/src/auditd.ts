/**
 * Puts auditd together: recovery first, then what others have seen of the log, then the writer and its producers.
 *
 * recovered ── nobody saw more ──► OPEN ── new year ──► the next shard ──► OPEN
 *     └─────── somebody saw more ──► ROLLED BACK ── two people open a shard ──► OPEN
 *
 * While it is rolled back nothing is signed and nothing taken: a second tree would grow under one origin.
 */
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ApprovalProof } from "@resontech/contracts/approval-proof";
import type { AuditControlRequest, LogStatus } from "@resontech/contracts/audit-control";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { NodeEvents } from "@resontech/contracts/node-audit";
import { removeLeftovers, type WithRoom } from "@resontech/frame/durable-file";
import { EventLoopLag } from "@resontech/frame/event-loop-lag";
import { acquireInstanceLock } from "@resontech/frame/instance-lock";
import { Turns } from "@resontech/frame/turns";
import type { Logger } from "pino";
import { type Acknowledged, AUDITD } from "./decisions/ledger.ts";
import { clockVouched, requestRefused } from "./decisions/operator-requests.ts";
import type { Beginning, OwnDraft } from "./decisions/restate.ts";
import type { Seen } from "./decisions/restore-plan.ts";
import { dueStep, slugAfter } from "@resontech/audit/format/shard/shard-plan";
import type { LogPlace } from "@resontech/audit/format/wire/frames";
import { ControlPort, ControlRefused } from "./ports/control-port.ts";
import { Covering } from "./shard/covering.ts";
import { DiskGuard } from "./host/disk-guard.ts";
import { FoundLog } from "./shard/found-log.ts";
import { HostClock } from "./host/host-clock.ts";
import { LogKeys } from "./keys/log-keys.ts";
import { NodeRelay } from "./ports/node-relay.ts";
import { OpenShard, type ShardContext } from "./shard/open-shard.ts";
import { ProducerPort } from "./ports/producer-port.ts";
import { AUDIT_OUT, type ProducerSession } from "./ports/producer-session.ts";
import { type ShardFiles, shardFiles } from "./shard-files.ts";
import { setPolicy } from "./shard/set-policy.ts";
import { ShardDeletion } from "./shard/shard-deletion.ts";
import { Spools } from "./shard/spools.ts";
import { Succession } from "./shard/succession.ts";
import { TrustPolicy } from "./trust/trust-policy.ts";

const DISK_CHECK_MS = 5_000;
const CLOCK_CHECK_MS = 1_000;
const SHARD_CHECK_MS = 60_000;
/** Producers try once a second. */
const COME_AGAIN_MS = 1_500;
const COME_AGAIN_LOOK_MS = 20;

/** Why nothing is signed where nobody has said anything. */
const WHY: Readonly<Record<string, string>> = {
  keys: "its keys are gone: another shard followed it, or it was put back on another host",
  opening: "an opening of another shard after it was broken off",
};

export class Auditd implements AsyncDisposable {
  readonly #config: AuditdConfig;
  readonly #log: Logger;
  readonly #onFatal: (error: unknown) => void;
  readonly #guard: DiskGuard;
  readonly #clock: HostClock;
  readonly #loopLag = new EventLoopLag();
  /** Null until it is open, while it is rolled back, and while the next one is begun. */
  #shard: OpenShard | null = null;
  #instanceLock: Disposable | null = null;
  #found!: FoundLog;
  #trust!: TrustPolicy;
  #keys!: LogKeys;
  #covering!: Covering;
  #succession!: Succession;
  #rolledBack: Seen | null = null;
  /** It is known whether it is: the control socket answers before that. */
  readonly #judged = Promise.withResolvers<void>();
  /** Said while it was: the shard that is opened then takes it. */
  #saidMeanwhile: OwnDraft[] = [];
  #learning: PromiseWithResolvers<void> | null = null;
  readonly #heard = new Turns();
  #ports: ProducerPort[] = [];
  #control: ControlPort | null = null;
  readonly #relay: NodeRelay | null;
  readonly #spools: Spools;
  readonly #deletion: ShardDeletion;
  #timers: NodeJS.Timeout[] = [];
  #turning: Promise<void> | null = null;
  readonly #shardChecks = new Turns();
  #checkDiskSoon: () => void = () => {};
  #goOnDeleting: () => void = () => {};
  #diskDraining = false;
  #lossDraining = false;
  #heartbeatAtMs: number | null = null;

  private constructor(config: AuditdConfig, log: Logger, onFatal: (error: unknown) => void) {
    this.#config = config;
    this.#log = log;
    this.#onFatal = onFatal;
    this.#relay = config.nodeRelay === undefined ? null : new NodeRelay(config.nodeRelay);
    this.#guard = new DiskGuard(config, () => this.#checkDiskSoon());
    this.#clock = new HostClock(config.clockSyncedFile);
    this.#spools = new Spools(config, (write) => this.#guard.withRoom(write));
    this.#deletion = new ShardDeletion({
      ...{ auditDir: config.auditDir, spools: this.#spools, current: () => this.#shard },
      isClockTrusted: () => this.#clock.isTrusted,
      onFault: (error) =>
        log.error(
          { err: error },
          "a shard past its retention could not be deleted; it is tried again",
        ),
    });
  }

  /**
   * Recovers the log, hears what others have seen of it, signs what the write-ahead log held, then serves producers.
   * @param onFatal a write, sync or comparison failed: the process must end at once, acknowledging nothing more
   * @throws LogDamagedError
   * @throws ConfigError for a key that is missing or open to others
   * @throws AlreadyRunningError before anything is touched
   */
  static async start(
    config: AuditdConfig,
    log: Logger,
    onFatal: (error: unknown) => void,
  ): Promise<Auditd> {
    const auditd = new Auditd(config, log, onFatal);
    // Not the log's own folder, which backups copy: one that serves these producers is one that writes this log.
    const [first] = config.producers;
    if (first !== undefined)
      auditd.#instanceLock = await acquireInstanceLock(dirname(first.socket));
    const { auditDir, keysDir, policyFile } = config;
    for (const folder of [auditDir, keysDir]) await removeLeftovers(folder);
    await removeLeftovers(dirname(policyFile), { of: basename(policyFile) });
    auditd.#trust = await TrustPolicy.open(config, log);
    auditd.#keys = await LogKeys.open(config);
    const withRoom: WithRoom = (write) => auditd.#guard.withRoom(write);
    const parts = { config, log, withRoom, keys: auditd.#keys, trust: auditd.#trust };
    auditd.#covering = new Covering(parts);
    auditd.#succession = new Succession({ ...parts, around: (files) => auditd.#around(files) });
    auditd.#found = await FoundLog.open(parts);
    await auditd.#listen();
    await auditd.#learn();
    await auditd.#succession.endTurn(auditd.#found.recovered.ledger.follows);
    auditd.#rolledBack = await auditd.#found.rolledBack();
    if (auditd.#rolledBack === null) {
      await auditd.#found.reconcileRestore();
      await auditd.#takeUp();
      auditd.#serve();
    } else auditd.#refuseAll(auditd.#rolledBack);
    auditd.#judged.resolve();
    return auditd;
  }

  status(): LogStatus {
    const { recovered, files } = this.#found;
    return {
      origin: this.#shard?.files.origin ?? files.origin,
      size: this.#shard?.auditLog.durableSize ?? this.#found.size,
      checkpointSize: this.#shard?.checkpointer.size ?? recovered.tree.size,
      batches: this.#shard?.auditLog.batches ?? 0,
      draining: this.#diskDraining || this.#lossDraining,
      highestGeneration: (this.#shard?.auditLog ?? recovered).ledger.highestGeneration,
      rolledBack: this.#rolledBack === null ? null : this.#asStatus(this.#rolledBack),
      loopLagMs: this.#loopLag.maxMs,
      clock: {
        trusted: this.#clock.isTrusted,
        heartbeatAt:
          this.#heartbeatAtMs === null ? null : new Date(this.#heartbeatAtMs).toISOString(),
      },
    };
  }

  /** Ends connections, says so, commits and signs what was taken, saves the ledger. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#loopLag[Symbol.dispose]();
    await this.#control?.close();
    await this.#shardChecks.idle();
    await this.#turning;
    await Promise.all(this.#ports.map((port) => port.close()));
    const shard = this.#shard;
    this.#shard = null;
    shard?.auditLog.end({ type: "audit.stop", object: { kind: "log", id: AUDITD }, detail: {} });
    await shard?.[Symbol.asyncDispose]();
    await this.#covering[Symbol.asyncDispose]();
    this.#keys[Symbol.dispose]();
    this.#instanceLock?.[Symbol.dispose]();
  }

  /** What a producer holds of a log that is gone does not say of which shard. */
  #asStatus({ origin, size, by }: Seen): NonNullable<LogStatus["rolledBack"]> {
    return { origin: origin ?? this.#found.files.origin, seenSize: size, by };
  }

  async #listen(): Promise<void> {
    const shard = (): OpenShard => {
      if (this.#shard === null) throw new Error("no session is served without a shard");
      return this.#shard;
    };
    const host = {
      get log() {
        return shard().auditLog;
      },
      originOf: (index: number, leafHash: string) => shard().originOf(index, leafHash),
      findOutcomes: (
        prod: string,
        ops: readonly string[],
        after: LogPlace | undefined,
        isOver: () => boolean,
      ) => shard().findOutcomes(prod, ops, after, isOver),
      isOfOlder: async (acknowledged: Acknowledged) => {
        const { past } = shard();
        if (past === null) return false;
        const { index, leafHash } = acknowledged;
        return (await past.everHeld(index, leafHash)) || (await past.isKnownLoss(acknowledged));
      },
      spooled: () => this.#spools.oldest(shard()),
      eraseSpooled: (origin: string, segment: string) =>
        this.#spools.erase(shard(), origin, segment),
      deleteShards: (beforeMs: number) => this.#deleteShards(beforeMs),
      cover: (index: number, leafHash: string | undefined) =>
        this.#covering.cover(shard(), index, leafHash),
      cosign: (origin: string, size: number, lines: string) =>
        this.#covering.cosign(shard(), origin, size, lines),
      witnessed: (index: number, leafHash: string | undefined) =>
        this.#covering.witnessed(shard(), index, leafHash),
      status: () => this.status(),
      relay: (prod: string, query: NodeEvents & { node: string }) =>
        this.#relay?.of(prod)?.take(query, shard().auditLog) ?? null,
      onLoss: () => this.#drainForLoss(),
      onFatal: this.#onFatal,
    };
    if (this.#config.producers.some(({ name }) => name === AUDIT_OUT))
      this.#learning = Promise.withResolvers();
    // One after the other: each reads the log, and what was heard before counts before it.
    const onClaims = (prod: string, session: ProducerSession): void => {
      void this.#heard.run(() => this.#hear(prod, session).catch(this.#onFatal));
    };
    this.#ports = this.#config.producers.map(
      (producer) => new ProducerPort(producer, host, this.#log, onClaims),
    );
    for (const port of this.#ports) await port.listen();
    if (this.#config.controlSocket !== null)
      this.#control = await ControlPort.listen(this.#config.controlSocket, {
        answer: (request) => this.#answerOperator(request),
        recordRefusal: (action, code) => this.#recordRefusal(action, code),
      });
  }

  /**
   * Gives `audit-out`, where there is one, some time to say what it and the witnesses have seen; then those that run a moment to come again. Who comes
   * later finds a log that goes on, and is told of its loss.
   */
  async #learn(): Promise<void> {
    if (this.#learning === null) return;
    const timer = setTimeout(() => this.#learning?.resolve(), this.#config.learnMs);
    await this.#learning.promise;
    clearTimeout(timer);
    const until = performance.now() + Math.min(COME_AGAIN_MS, this.#config.learnMs);
    while (performance.now() < until && this.#isAnyMissed) await sleep(COME_AGAIN_LOOK_MS);
    await this.#heard.idle();
    this.#learning = null;
  }

  get #isAnyMissed(): boolean {
    return this.#ports.some((port) => port.isMissed);
  }

  /** What a producer holds counts until the log is taken up; after that its session judges it. */
  async #hear(prod: string, session: ProducerSession): Promise<void> {
    const isTakenUp = (): boolean => this.#shard !== null || this.#turning !== null;
    if (isTakenUp()) return;
    await this.#found.hear(prod, session.claims);
    if (prod === AUDIT_OUT) this.#learning?.resolve();
    if (this.#rolledBack !== null) {
      const seen = await this.#found.rolledBack();
      // Two people may have opened a shard meanwhile: it is not the one that was put back.
      if (isTakenUp()) return;
      this.#rolledBack = seen ?? this.#rolledBack;
      session.refuse("log_rolled_back", "the log is older than what was seen of it");
    }
  }

  /** Serves producers from the shard that was found, or from the one that must follow it. */
  async #takeUp(): Promise<void> {
    const { files, recovered, past } = this.#found;
    this.#diskDraining = (await this.#guard.check()).draining;
    const isNew = recovered.tree.size === 0 && recovered.wal.leaves.length === 0;
    if (recovered.ledger.isClosed) {
      await OpenShard.finish(files, recovered, await this.#around(files));
      await this.#followYear(files);
    } else {
      const beginning: Beginning | null = isNew ? { reason: "first", before: null } : null;
      this.#shard = await OpenShard.open(
        files,
        recovered,
        { past, beginning },
        await this.#around(files),
      );
    }
  }

  #serve(): void {
    this.#every(this.#config.heartbeatMs, async (shard) => {
      const atMs = Date.now();
      await shard.heartbeat(this.#ports.flatMap((port) => (port.isMissed ? [port.name] : [])));
      this.#heartbeatAtMs = atMs;
      await this.#checkWitnesses(shard);
    });
    this.#checkDiskSoon = this.#every(DISK_CHECK_MS, (shard) => this.#checkDisk(shard));
    this.#every(CLOCK_CHECK_MS, (shard) => this.#checkClock(shard));
    const checkShard = this.#every(SHARD_CHECK_MS, () => this.#checkShard());
    this.#goOnDeleting = this.#every(SHARD_CHECK_MS, () => this.#deletion.goOn());
    for (const port of this.#ports) port.open();
    checkShard();
    this.#goOnDeleting();
  }

  #refuseAll(seen: Seen): void {
    const { origin, seenSize, by } = this.#asStatus(seen);
    const { files, size } = this.#found;
    const what = WHY[by] ?? `${by} has seen ${seenSize} of ${origin}`;
    const message = `${files.origin} has ${size} leaves, and ${what}: two people must open a new shard`;
    this.#log.error(
      { size, origin, seenSize, by },
      "the log was put back to an older state; nothing is signed",
    );
    for (const port of this.#ports) port.hold("log_rolled_back", message);
  }

  async #around(files: ShardFiles): Promise<ShardContext> {
    return {
      config: this.#config,
      signers: await this.#keys.signersOf(files),
      trust: this.#trust,
      withRoom: (write) => this.#guard.withRoom(write),
      log: this.#log,
      onCheckpoint: () => this.#checkDiskSoon(),
      onFatal: this.#onFatal,
    };
  }

  /** Runs now and then while a shard is open, never twice at a time; what is returned runs it out of turn. */
  #every(intervalMs: number, run: (shard: OpenShard) => Promise<void>): () => void {
    let isRunning = false;
    const turn = (): void => {
      if (isRunning || this.#shard === null) return;
      isRunning = true;
      run(this.#shard).then(() => {
        isRunning = false;
      }, this.#onFatal);
    };
    this.#timers.push(setInterval(turn, intervalMs));
    return turn;
  }

  /** While no shard is prepared or turns. */
  async #beforeNextCheck(run: () => Promise<void>): Promise<void> {
    await this.#shardChecks.run(run);
  }

  /** One look at a time: two would each make keys for the next shard. */
  #checkShard(): Promise<void> {
    return this.#shardChecks.run(() => this.#prepareOrTurn().catch(this.#onFatal));
  }

  async #prepareOrTurn(): Promise<void> {
    const shard = this.#shard;
    if (shard === null) return;
    const { files, auditLog } = shard;
    const next = shardFiles(this.#config, slugAfter(files.slug, "year"));
    const isClockTrusted = this.#clock.isVouchedFor;
    const prepared =
      auditLog.ledger.nextShard?.origin === next.origin ? auditLog.ledger.nextShard : null;
    const isNextPrepared = prepared !== null;
    const due = dueStep({ slug: files.slug, isNextPrepared, nowMs: Date.now(), isClockTrusted });
    if (due === null) return;
    const keys = await this.#succession.keysOf(next);
    if (keys === null) return;
    const areNamed = prepared !== null && prepared.keys.join() === keys.join();
    if (!areNamed) {
      if (prepared !== null)
        this.#log.error(
          { named: prepared.keys, keys },
          "the next shard's keys were gone: others are named",
        );
      const detail = { origin: next.origin, keys };
      await auditLog.record({
        type: "audit.shard.next",
        object: { kind: "log", id: AUDITD },
        detail,
      });
      this.#log.info(detail, "the next shard is prepared");
      // What was named anew is looked at anew.
      if (isClockTrusted) await this.#prepareOrTurn();
    } else {
      this.#turning = this.#turn(shard, next.origin);
      await this.#turning;
      this.#turning = null;
    }
  }

  /** The vault says that no legal hold stands. What can't be deleted today is asked for again tomorrow. */
  async #deleteShards(beforeMs: number): Promise<string[]> {
    const begun = await this.#deletion.begin(beforeMs).catch((error: unknown) => {
      this.#log.error({ err: error }, "shards past their retention could not be deleted");
      return [];
    });
    if (begun.length > 0)
      this.#log.info({ origins: begun }, "shards past their retention are deleted");
    this.#goOnDeleting();
    return begun;
  }

  /** The last leaf, the last checkpoint, then the next shard. Producers come again, and send what was not acknowledged. */
  async #turn(shard: OpenShard, nextOrigin: string): Promise<void> {
    this.#shard = null;
    for (const port of this.#ports) port.hold("shard_turn", "the log goes on in the next shard");
    const { auditLog, files } = shard;
    auditLog.end({
      type: "audit.shard.close",
      object: { kind: "log", id: AUDITD },
      detail: { next_origin: nextOrigin, open_operations: auditLog.ledger.openCount },
    });
    await shard[Symbol.asyncDispose]();
    this.#clock.endVouching();
    await this.#followYear(files);
    for (const port of this.#ports) port.open();
  }

  async #followYear(closed: ShardFiles): Promise<void> {
    const before = await this.#succession.pastOf(closed);
    this.#shard = await this.#succession.follow(
      { reason: "year", before },
      slugAfter(closed.slug, "year"),
    );
  }

  async #answerOperator(request: AuditControlRequest): Promise<object> {
    switch (request.verb) {
      case "status":
        return this.status();
      case "clock-is-right":
        await this.#beforeNextCheck(() => this.#vouchForClock());
        await this.#checkShard();
        return this.status();
      case "set-policy":
        await this.#beforeNextCheck(() =>
          this.#setPolicy(Buffer.from(request.policy, "utf8"), request.approval),
        );
        return this.status();
      case "open-shard": {
        const [one, other] = twoOf(request.approvers);
        await this.#judged.promise;
        if (this.#rolledBack === null)
          throw new ControlRefused(
            "not_rolled_back",
            "nobody has seen more of the log than it holds, and it was not restored",
          );
        this.#turning ??= this.#openAfterRestore([one, other]).catch(this.#onFatal);
        await this.#turning;
        this.#turning = null;
        return this.status();
      }
    }
  }

  /** Where two people are still to open a shard, the answer is all that tells of it. */
  async #recordRefusal(action: string, code: string): Promise<void> {
    await this.#turning;
    await this.#shard?.auditLog.record(requestRefused(action, code));
  }

  /** A log that was put back may need it before it can be opened: then the word counts at once, and nothing goes by it but the opening. */
  async #vouchForClock(): Promise<void> {
    await this.#turning;
    const said = clockVouched();
    if (this.#shard !== null) return await this.#clock.vouch(this.#shard.auditLog.record(said));
    if (this.#rolledBack === null) throw logClosed();
    this.#saidMeanwhile.push(said);
    await this.#clock.vouch(Promise.resolve());
  }

  async #setPolicy(bytes: Buffer, proof: ApprovalProof): Promise<void> {
    if (this.#shard === null) throw logClosed();
    await setPolicy(this.#shard, await this.#around(this.#shard.files), bytes, proof);
  }

  /** What the write-ahead log holds beyond the last checkpoint was never signed, and is lost with the rest. */
  async #openAfterRestore(approvers: [string, string]): Promise<void> {
    const { files } = this.#found;
    for (const port of this.#ports) port.hold("shard_turn", "the log goes on in a new shard");
    const before = await this.#succession.pastOf(files);
    const { slug, seen, lost } = await this.#found.planRestore(this.#clock.isVouchedFor);
    const root = seen.size === before.size ? before.root : seen.root;
    const admitted = { size: seen.size, root };
    const beginning = { reason: "restore", before, seen: admitted, lost, approvers } as const;
    this.#shard = await this.#succession.follow(beginning, slug, this.#saidMeanwhile);
    this.#saidMeanwhile = [];
    await this.#found.reconcileRestore();
    this.#rolledBack = null;
    this.#serve();
  }

  async #checkDisk(shard: OpenShard): Promise<void> {
    const { freeBytes, ballastBytes, draining } = await this.#guard.check();
    // A shard that closed meanwhile takes nothing more; the next look is the next one's.
    if (draining === this.#diskDraining || this.#shard !== shard) return;
    this.#diskDraining = draining;
    this.#announce();
    this.#log.warn({ freeBytes, ballastBytes, draining }, "disk of the log");
    await shard.auditLog.record({
      type: "audit.disk",
      object: { kind: "log", id: AUDITD },
      detail: { free_bytes: freeBytes, ballast_bytes: ballastBytes, draining },
    });
  }

  async #checkWitnesses(shard: OpenShard): Promise<void> {
    const policy = await this.#trust.current();
    // A shard that closed meanwhile takes nothing more.
    const { witnessing, auditLog } = shard;
    const detail =
      this.#shard === shard
        ? witnessing.lagNow(policy, Date.now(), auditLog.ledger.lacksWitness)
        : null;
    if (detail === null) return;
    this.#log.warn(detail, "cosignatures of the witnesses");
    await auditLog.record({
      type: "audit.witness.lag",
      object: { kind: "log", id: AUDITD },
      detail,
    });
  }

  async #checkClock({ auditLog }: OpenShard): Promise<void> {
    const stepMs = this.#clock.look();
    if (stepMs === null) return;
    await auditLog.record({
      type: "admin.clock.step",
      object: { kind: "appliance", id: AUDITD },
      detail: { step_ms: stepMs },
    });
  }

  #drainForLoss(): void {
    if (this.#lossDraining) return;
    this.#lossDraining = true;
    this.#log.error("a producer holds an acknowledgement that the log does not bear out; draining");
    this.#announce();
  }

  #announce(): void {
    for (const port of this.#ports) port.announce(this.status().draining);
  }
}

function logClosed(): ControlRefused {
  return new ControlRefused("log_closed", "the log takes nothing now");
}

/** @throws ControlRefused unless they are two */
function twoOf(approvers: [string, string]): [string, string] {
  if (approvers[0] === approvers[1])
    throw new ControlRefused("approvers_equal", "it takes two people");
  return approvers;
}
