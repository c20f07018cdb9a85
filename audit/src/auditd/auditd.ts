/**
 * Puts auditd together: recovery first, then what others have seen of the log, then the writer and its producers.
 *
 * recovered ── nobody saw more ──► OPEN ── new year ──► the next shard ──► OPEN
 *     └─────── somebody saw more ──► ROLLED BACK ── two people open a shard ──► OPEN
 *
 * While it is rolled back nothing is signed and nothing taken: a second tree would grow under one origin.
 */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AuditControlRequest, LogStatus } from "@resontech/contracts/audit-control";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { NodeEvents } from "@resontech/contracts/node-audit";
import { EventLoopLag } from "@resontech/daemon/event-loop-lag";
import type { Logger } from "pino";
import { CLOCK_STEP_MS, mayActOnClock } from "../decisions/clock-trust.ts";
import { AUDITD } from "../decisions/ledger.ts";
import type { Beginning } from "../decisions/restate.ts";
import { dueStep, rolledBackFrom, type Seen, slugAfter, slugOf } from "../decisions/shard-plan.ts";
import { removeLeftovers, syncFolder } from "../log/durable-file.ts";
import { LogDamagedError } from "../log/log-reader.ts";
import { verifierKey } from "../log/note-key.ts";
import { setCurrentSlug } from "../log/shards.ts";
import type { CosignReply, Witnessed } from "../wire/frames.ts";
import { ControlPort, ControlRefused } from "./control-port.ts";
import { DiskGuard } from "./disk-guard.ts";
import { LogKeys } from "./keys/log-keys.ts";
import { isBegun, makeEmptyTree, makeShardKeys } from "./make-shard.ts";
import { NodeRelay } from "./node-relay.ts";
import { OpenShard, type Surroundings } from "./open-shard.ts";
import { PastShard } from "./past-shard.ts";
import { isAnswered, ProducerPort } from "./producer-port.ts";
import { OUTWARD, type ProducerSession } from "./producer-session.ts";
import { recover, type Recovered } from "./recovery.ts";
import { currentShard, exists, familiesOf, type ShardFiles, shardFiles } from "./shard-files.ts";
import { setPolicy } from "./set-policy.ts";
import { ShardDeletion } from "./shard-deletion.ts";
import { Spools } from "./spools.ts";
import { TrustPolicy } from "./trust-policy.ts";
import { Witnessing } from "./witnessing.ts";

const DISK_CHECK_MS = 5_000;
const CLOCK_CHECK_MS = 1_000;
const SHARD_CHECK_MS = 60_000;
/** As `audit-out` calls what a witness told it. */
const WITNESS = "witness";
/** Its quorum has seen more of the log than there is. */
const WITNESSED_FILE = "checkpoint.witnessed";

/** Another auditd answers on a socket of this configuration: one log has one writer. */
class AlreadyRunningError extends Error {
  override readonly name = "AlreadyRunningError";
  readonly code = "already_running";

  constructor(socket: string) {
    super(`another auditd answers on ${socket}`);
  }
}

/** The current shard's files as a start found them. */
type Found = { files: ShardFiles; recovered: Recovered; past: PastShard | null };

export class Auditd implements AsyncDisposable {
  readonly #config: AuditdConfig;
  readonly #log: Logger;
  readonly #onFatal: (error: unknown) => void;
  readonly #guard: DiskGuard;
  readonly #loopLag = new EventLoopLag();
  /** Null until it is open, while it is rolled back, and while the next one is begun. */
  #shard: OpenShard | null = null;
  #found!: Found;
  #trust!: TrustPolicy;
  #keys!: LogKeys;
  /** Of the shard before: its last checkpoint may be cosigned after the turn. */
  #pastWitnessing: { origin: string; opened: Promise<Witnessing | null> } | null = null;
  #rolledBack: Seen | null = null;
  #seen: Seen[] = [];
  #learning: PromiseWithResolvers<void> | null = null;
  #ports: ProducerPort[] = [];
  #control: ControlPort | null = null;
  readonly #relay: NodeRelay | null;
  readonly #spools: Spools;
  readonly #deletion: ShardDeletion;
  #timers: NodeJS.Timeout[] = [];
  #turning: Promise<void> | null = null;
  #shardChecks: Promise<void> = Promise.resolve();
  #checkDiskSoon: () => void = () => {};
  #goOnDeleting: () => void = () => {};
  #diskDraining = false;
  #lossDraining = false;
  #isClockVouched = false;
  #clockOffsetMs = Date.now() - performance.now();
  #clockSetAtMs = Number.NEGATIVE_INFINITY;
  #heartbeatAtMs: number | null = null;

  private constructor(config: AuditdConfig, log: Logger, onFatal: (error: unknown) => void) {
    this.#config = config;
    this.#log = log;
    this.#onFatal = onFatal;
    this.#relay = config.nodeRelay === undefined ? null : new NodeRelay(config.nodeRelay);
    this.#guard = new DiskGuard(config, () => this.#checkDiskSoon());
    this.#spools = new Spools(config, (write) => this.#guard.withRoom(write));
    this.#deletion = new ShardDeletion({
      ...{ auditDir: config.auditDir, spools: this.#spools, current: () => this.#shard },
      isClockTrusted: () => this.status().clock.trusted,
      onFault: (error) => log.error({ err: error }, "a shard past its retention could not be deleted; it is tried again"),
    });
  }

  /**
   * Recovers the log, hears what others have seen of it, signs what the write-ahead log held, then serves producers.
   * @param onFatal a write, sync or comparison failed: the process must end at once, acknowledging nothing more
   * @throws LogDamagedError
   * @throws ConfigError for a key that is missing or open to others
   * @throws AlreadyRunningError before anything is touched
   */
  static async start(config: AuditdConfig, log: Logger, onFatal: (error: unknown) => void): Promise<Auditd> {
    const auditd = new Auditd(config, log, onFatal);
    for (const { socket } of config.producers) if (await isAnswered(socket)) throw new AlreadyRunningError(socket);
    const { auditDir, keysDir, policyFile } = config;
    for (const folder of [auditDir, keysDir]) await removeLeftovers(folder);
    await removeLeftovers(dirname(policyFile), { of: basename(policyFile) });
    auditd.#trust = await TrustPolicy.open(config, log);
    auditd.#keys = await LogKeys.open(config);
    auditd.#found = await auditd.#find();
    const { missing } = auditd.#found.recovered;
    if (missing !== null) auditd.#seen.push({ size: missing.size, root: missing.root.toString("hex"), by: WITNESSED_FILE });
    await auditd.#listen();
    await auditd.#learn();
    await auditd.#endTurn();
    auditd.#rolledBack = rolledBackFrom(auditd.#foundSize, auditd.#seen) ?? (await auditd.#unvouchedRestore());
    if (auditd.#rolledBack === null) {
      await auditd.#takeUp();
      auditd.#serve();
    } else auditd.#refuseAll(auditd.#rolledBack);
    return auditd;
  }

  status(): LogStatus {
    const { recovered, files } = this.#found;
    return {
      origin: this.#shard?.files.origin ?? files.origin,
      size: this.#shard?.auditLog.durableSize ?? this.#foundSize,
      checkpointSize: this.#shard?.checkpointer.size ?? recovered.tree.size,
      batches: this.#shard?.auditLog.batches ?? 0,
      draining: this.#diskDraining || this.#lossDraining,
      highestGeneration: (this.#shard?.auditLog ?? recovered).ledger.highestGeneration,
      rolledBack: this.#rolledBack === null ? null : { seenSize: this.#rolledBack.size, by: this.#rolledBack.by },
      loopLagMs: this.#loopLag.maxMs,
      clock: {
        trusted: mayActOnClock({
          ...{ isVouched: this.#isClockVouched, isSynced: this.#isClockSynced, stepMs: this.#clockStepMs },
          sinceStepMs: performance.now() - this.#clockSetAtMs,
        }),
        heartbeatAt: this.#heartbeatAtMs === null ? null : new Date(this.#heartbeatAtMs).toISOString(),
      },
    };
  }

  get #isClockSynced(): boolean {
    const { clockSyncedFile } = this.#config;
    return clockSyncedFile !== null && existsSync(clockSyncedFile);
  }

  /** Since it was last looked at. */
  get #clockStepMs(): number {
    return Math.round(Date.now() - performance.now() - this.#clockOffsetMs);
  }

  /** Ends connections, says so, commits and signs what was taken, saves the ledger. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#loopLag[Symbol.dispose]();
    await this.#control?.close();
    await this.#shardChecks;
    await this.#turning;
    await Promise.all(this.#ports.map((port) => port.close()));
    const shard = this.#shard;
    this.#shard = null;
    shard?.auditLog.end({ type: "audit.stop", object: { kind: "log", id: AUDITD }, detail: {} });
    await shard?.[Symbol.asyncDispose]();
    (await this.#pastWitnessing?.opened)?.close();
    this.#keys[Symbol.dispose]();
  }

  get #foundSize(): number {
    const { tree, wal } = this.#found.recovered;
    return tree.size + wal.leaves.length;
  }

  /** Reads the current shard, writing nothing. */
  async #find(): Promise<Found> {
    const files = await currentShard(this.#config);
    if (files === null) throw new LogDamagedError(0, "there is no log; one is made only by `init`");
    const recovered = await this.#recover(files);
    const { follows } = recovered.ledger;
    return { files, recovered, past: follows === null ? null : await PastShard.open(this.#config, follows.origin) };
  }

  async #recover(files: ShardFiles): Promise<Recovered> {
    const signers = await this.#keys.signersOf(files);
    return recover(files.logDir, files.origin, signers, familiesOf(this.#config), (write) => this.#guard.withRoom(write));
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
      spooled: () => this.#spools.oldest(shard()),
      eraseSpooled: (origin: string, segment: string) => this.#spools.erase(shard(), origin, segment),
      deleteShards: (beforeMs: number) => this.#deleteShards(beforeMs),
      cover: (index: number, leafHash: string | undefined) => this.#cover(shard(), index, leafHash),
      cosign: (origin: string, size: number, lines: string) => this.#cosign(shard(), origin, size, lines),
      witnessed: (index: number, leafHash: string | undefined) => this.#witnessed(shard(), index, leafHash),
      status: () => this.status(),
      relay: (prod: string, query: NodeEvents & { node: string }) => this.#relay?.of(prod)?.take(query, shard().auditLog) ?? null,
      onLoss: () => this.#drainForLoss(),
      onFatal: this.#onFatal,
    };
    if (this.#config.producers.some(({ name }) => name === OUTWARD)) this.#learning = Promise.withResolvers();
    const onClaims = (prod: string, session: ProducerSession): void => {
      this.#hear(prod, session).catch(this.#onFatal);
    };
    this.#ports = this.#config.producers.map((producer) => new ProducerPort(producer, host, this.#log, onClaims));
    for (const port of this.#ports) await port.listen();
    if (this.#config.controlSocket !== null)
      this.#control = await ControlPort.listen(this.#config.controlSocket, (request) => this.#answerOperator(request));
  }

  /** Gives `audit-out`, where there is one, some time to say what it and the witnesses have seen. */
  async #learn(): Promise<void> {
    if (this.#learning === null) return;
    const timer = setTimeout(() => this.#learning?.resolve(), this.#config.learnMs);
    await this.#learning.promise;
    clearTimeout(timer);
    this.#learning = null;
  }

  /** What a producer holds counts until the log is taken up; after that its session judges it. */
  async #hear(prod: string, session: ProducerSession): Promise<void> {
    if (this.#shard !== null || this.#turning !== null) return;
    const { highestAck, seen } = session.claims;
    const { recovered, files, past } = this.#found;
    for (const { origin, size, root, by } of seen) if (origin === files.origin) this.#seen.push({ size, root, by });
    if (highestAck !== null) {
      const { index, leafHash } = highestAck;
      const { follows } = recovered.ledger;
      const isLost = follows !== null && index >= follows.lostFrom && index < follows.lostTo;
      if (!isLost && !(await past?.holds(index, leafHash))) this.#seen.push({ size: index + 1, root: null, by: prod });
    }
    if (prod === OUTWARD) this.#learning?.resolve();
    if (this.#rolledBack !== null) {
      this.#rolledBack = rolledBackFrom(this.#rolledBack.size, this.#seen) ?? this.#rolledBack;
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
      await this.#follow({ reason: "year", before: await this.#pastOf(files) });
    } else {
      const beginning: Beginning | null = isNew ? { reason: "first", before: null } : null;
      this.#shard = await OpenShard.open(files, recovered, { past, beginning }, await this.#around(files));
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

  /**
   * A restore is not taken for the whole log on its own word: where no witness says what it has seen, nothing tells how much is missing.
   */
  async #unvouchedRestore(): Promise<Seen | null> {
    if (!(await exists(this.#restoredMarker))) return null;
    if (!this.#seen.some(({ by }) => by === WITNESS)) return { size: this.#foundSize, root: null, by: "restore" };
    await rm(this.#restoredMarker);
    return null;
  }

  /** Whoever puts the folder back from a backup leaves it there; docs/operator.md says so. */
  get #restoredMarker(): string {
    return join(this.#config.auditDir, "restored");
  }

  #refuseAll({ size, by }: Seen): void {
    const message = `the log has ${this.#foundSize} leaves, and ${by} has seen ${size}: two people must open a new shard`;
    this.#log.error({ size: this.#foundSize, seenSize: size, by }, "the log was put back to an older state; nothing is signed");
    for (const port of this.#ports) port.hold("log_rolled_back", message);
  }

  async #around(files: ShardFiles): Promise<Surroundings> {
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
    const ran = this.#shardChecks.then(run);
    this.#shardChecks = ran.catch(() => {});
    await ran;
  }

  /** One look at a time: two would each make keys for the next shard. */
  #checkShard(): Promise<void> {
    this.#shardChecks = this.#shardChecks.then(() => this.#prepareOrTurn()).catch(this.#onFatal);
    return this.#shardChecks;
  }

  async #prepareOrTurn(): Promise<void> {
    const shard = this.#shard;
    if (shard === null) return;
    const { files, auditLog } = shard;
    const next = shardFiles(this.#config, slugAfter(files.slug, "year"));
    const isClockTrusted = this.#isClockVouched || this.#isClockSynced;
    const prepared = auditLog.ledger.nextShard?.origin === next.origin ? auditLog.ledger.nextShard : null;
    const isNextPrepared = prepared !== null;
    const due = dueStep({ slug: files.slug, isNextPrepared, nowMs: Date.now(), isClockTrusted });
    if (due === null) return;
    const keys = await this.#keysOf(next);
    if (keys === null) return;
    const areNamed = prepared !== null && prepared.keys.join() === keys.join();
    if (!areNamed) {
      if (prepared !== null) this.#log.error({ named: prepared.keys, keys }, "the next shard's keys were gone: others are named");
      const detail = { origin: next.origin, keys };
      await auditLog.record({ type: "audit.shard.next", object: { kind: "log", id: AUDITD }, detail });
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
    if (begun.length > 0) this.#log.info({ origins: begun }, "shards past their retention are deleted");
    this.#goOnDeleting();
    return begun;
  }

  /** Null where they can't be made: there is time, and what is written goes on. The next look tries again. */
  async #keysOf(next: ShardFiles): Promise<string[] | null> {
    try {
      const keys = (await makeShardKeys(this.#config, this.#keys, next)).map(verifierKey);
      await this.#trust.current(next.origin);
      return keys;
    } catch (error) {
      this.#log.error({ err: error, origin: next.origin }, "the next shard can't be prepared");
      return null;
    }
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
    this.#isClockVouched = false;
    await this.#follow({ reason: "year", before: await this.#pastOf(files) });
    for (const port of this.#ports) port.open();
  }

  async #pastOf({ origin, logDir }: ShardFiles): Promise<PastShard> {
    const past = await PastShard.open(this.#config, origin);
    if (past === null) throw new LogDamagedError(0, `${logDir} holds no checkpoint`);
    return past;
  }

  /** Begins the shard that follows, or finds that it is begun, and from then on writes it; the older one's keys are destroyed. */
  async #follow(beginning: Beginning & { before: PastShard }): Promise<void> {
    const older = shardFiles(this.#config, slugOf(beginning.before.origin));
    const files = shardFiles(this.#config, slugAfter(older.slug, beginning.reason === "year" ? "year" : "restore"));
    const signers = await makeShardKeys(this.#config, this.#keys, files);
    const wasBegun = await isBegun(files, signers);
    if (!wasBegun) await makeEmptyTree(this.#config, files, signers);
    const recovered = await this.#recover(files);
    const past = beginning.before;
    const shard = await OpenShard.open(
      files,
      recovered,
      { past, beginning: wasBegun ? null : beginning },
      await this.#around(files),
    );
    await setCurrentSlug(this.#config.auditDir, files.slug);
    await this.#keys.destroy(older);
    this.#shard = shard;
    this.#log.info({ origin: files.origin, after: past.origin, reason: beginning.reason }, "a shard begins");
  }

  /** A life that ended at the turn may have named this shard without making that durable, and left keys of the older one. */
  async #endTurn(): Promise<void> {
    const { follows } = this.#found.recovered.ledger;
    if (follows === null) return;
    const older = shardFiles(this.#config, slugOf(follows.origin));
    if (!(await this.#keys.hasAny(older))) return;
    await syncFolder(this.#config.auditDir);
    await this.#keys.destroy(older);
  }

  async #answerOperator(request: AuditControlRequest): Promise<object> {
    switch (request.verb) {
      case "status":
        return this.status();
      case "clock-is-right":
        this.#isClockVouched = true;
        await this.#checkShard();
        return this.status();
      case "set-policy":
        await this.#beforeNextCheck(() => this.#setPolicy(Buffer.from(request.policy, "utf8"), twoOf(request.approvers)));
        return this.status();
      case "open-shard": {
        const [one, other] = twoOf(request.approvers);
        if (this.#rolledBack === null)
          throw new ControlRefused("not_rolled_back", "nobody has seen more of the log than it holds, and it was not restored");
        this.#turning ??= this.#openAfterRestore([one, other]).catch(this.#onFatal);
        await this.#turning;
        this.#turning = null;
        return this.status();
      }
    }
  }

  async #setPolicy(bytes: Buffer, approvers: [string, string]): Promise<void> {
    if (this.#shard === null) throw new ControlRefused("log_closed", "the log takes nothing now");
    await setPolicy(this.#shard, await this.#around(this.#shard.files), bytes, approvers);
  }

  /** What the write-ahead log holds beyond the last checkpoint was never signed, and is lost with the rest. */
  async #openAfterRestore(approvers: [string, string]): Promise<void> {
    const { files } = this.#found;
    for (const port of this.#ports) port.hold("shard_turn", "the log goes on in a new shard");
    const before = await this.#pastOf(files);
    const { size, root } = this.#rolledBack ?? { size: before.size, root: before.root };
    await this.#follow({ reason: "restore", before, seen: { size, root }, approvers });
    await rm(this.#restoredMarker, { force: true });
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
    const detail = this.#shard === shard ? witnessing.lagNow(policy, Date.now(), auditLog.ledger.lacksWitness) : null;
    if (detail === null) return;
    this.#log.warn(detail, "cosignatures of the witnesses");
    await auditLog.record({ type: "audit.witness.lag", object: { kind: "log", id: AUDITD }, detail });
  }

  async #cosign(shard: OpenShard, origin: string, size: number, lines: string): Promise<CosignReply> {
    if (origin === shard.files.origin) return shard.witnessing.cosign(size, lines);
    const { past } = shard;
    if (past === null || origin !== past.origin) return { accepted: 0 };
    return (await this.#witnessingOf(past))?.cosign(size, lines) ?? { accepted: 0 };
  }

  /** The last checkpoint of the shard before covers everything in it. */
  async #cover(shard: OpenShard, index: number, leafHash: string | undefined): Promise<number | null> {
    const origin = leafHash === undefined ? shard.originAt(index) : await shard.originOf(index, leafHash);
    if (origin === null) return null;
    return origin === shard.past?.origin ? shard.past.size : shard.checkpointer.cover(index);
  }

  async #witnessed(shard: OpenShard, index: number, leafHash: string | undefined): Promise<Witnessed | null> {
    const origin = leafHash === undefined ? shard.originAt(index) : await shard.originOf(index, leafHash);
    if (origin === null) return null;
    const isPast = shard.past !== null && origin === shard.past.origin;
    const seen = await (isPast ? (await this.#witnessingOf(shard.past))?.witnessed(index) : shard.witnessed(index));
    const unseen = { needsWitness: (await this.#trust.current()).needsWitness, witnessed: false, witnessedSize: 0 };
    return { ...(seen ?? unseen), mayGoOn: this.#config.unwitnessed === "mark" };
  }

  /** Null when it takes no cosignatures. */
  #witnessingOf(past: PastShard): Promise<Witnessing | null> {
    const { origin } = past;
    if (this.#pastWitnessing?.origin !== origin) this.#pastWitnessing = { origin, opened: this.#openPastWitnessing(past) };
    return this.#pastWitnessing.opened;
  }

  /** Its private keys are gone; the policy has what they verify with. Null when its checkpoints are not what they must be: that is the verifier's. */
  async #openPastWitnessing({ origin, size }: PastShard): Promise<Witnessing | null> {
    const { logDir } = shardFiles(this.#config, slugOf(origin));
    const keys = (await this.#trust.current()).logs.filter(({ name }) => name === origin);
    return Witnessing.open(logDir, keys, size, this.#trust, (write) => this.#guard.withRoom(write)).catch((error: unknown) => {
      this.#log.error({ err: error, origin }, "the shard before takes no cosignatures");
      return null;
    });
  }

  async #checkClock({ auditLog }: OpenShard): Promise<void> {
    const stepMs = this.#clockStepMs;
    this.#clockOffsetMs = Date.now() - performance.now();
    if (Math.abs(stepMs) <= CLOCK_STEP_MS) return;
    // Whoever vouched for it meant the one that was.
    this.#isClockVouched = false;
    this.#clockSetAtMs = performance.now();
    await auditLog.record({ type: "admin.clock.step", object: { kind: "appliance", id: AUDITD }, detail: { step_ms: stepMs } });
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

/** @throws ControlRefused unless they are two */
function twoOf(approvers: [string, string]): [string, string] {
  if (approvers[0] === approvers[1]) throw new ControlRefused("approvers_equal", "it takes two people");
  return approvers;
}
