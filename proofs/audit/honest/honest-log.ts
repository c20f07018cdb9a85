/** A real auditd that lives through what happens to honest ones, and what an auditor must find in its log and in no other. */
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AuditProducer,
  AuditRejected,
  AuditUnavailable,
  committer,
  connectProducer,
  type LeafRef,
} from "@resontech/audit/producer";
import type { LogStatus } from "@resontech/contracts/audit-control";
import type { DisclosureLine } from "@resontech/contracts/vault-control";
import { disclosureOf, erasureOf, VaultInstance } from "../instances/vault-instance.ts";
import { AuditdProcess } from "../crash/auditd-process.ts";
import { makeDiskFolders } from "../crash/try-image.ts";
import { Cosigner } from "./cosigner.ts";
import { SetClock } from "../instances/set-clock.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const MAX_TRIES = 10;
const RETRY_MS = 500;
/** auditd looks at its clock once a second. */
const STEP_SEEN_MS = 2_500;
/** Of somebody who is not erased. */
export const KEPT_VALUES = 5;
const VAULT_TRIES = 120;
const WELCOME_MS = 60_000;
const SOCKETS = {
  gate: "coordinator-gate",
  appliance: "appliance",
  out: "audit-out",
  vault: "vault",
  supervisor: "supervisor",
} as const;

/** What is to be found in one shard, in this order. */
export type Expected = {
  stretches: ("DARK" | "STOPPED")[];
  recovered: boolean;
  abruptStarts: number;
  witness: "PASS" | "FAIL" | "NOT CHECKED";
};

/** What a part runs of a release, each by SHA-256. */
export type Measured = {
  part: string;
  files: { path: string; sha256: string }[];
  image: string | null;
};

export class HonestLog {
  readonly #root: string;
  readonly #auditd: AuditdProcess;
  readonly #clock: SetClock;
  readonly #random: () => number;
  readonly #witness: Cosigner | null;
  #vault: VaultInstance | null = null;
  #gate!: AuditProducer;
  #out!: AuditProducer;
  /** The latest time that auditd can have written: its log's time never goes back. */
  #latestMs = 0;
  /** By slug. */
  readonly expected = new Map<string, Expected>();
  /** Signed checkpoints as an auditor could have kept them, by slug. */
  readonly kept = new Map<string, string[]>();
  /** What the vault opened, or marked as erased, of a shard, by slug. */
  readonly disclosed = new Map<string, DisclosureLine[]>();

  private constructor(root: string, random: () => number, hasWitness: boolean) {
    mkdirSync(join(root, "control"), { recursive: true, mode: 0o700 });
    this.#root = root;
    this.#random = random;
    this.#clock = new SetClock(join(root, "clock"));
    this.#witness = hasWitness ? new Cosigner("w.example/w1") : null;
    const disk = join(root, "disk");
    makeDiskFolders(disk);
    this.#auditd = new AuditdProcess(
      root,
      disk,
      {
        originPrefix: "box.audit.acme",
        controlSocket: join(root, "control/sock"),
        heartbeatMs: 300,
        ballastBytes: 0,
        producers: Object.values(SOCKETS).map((name) => ({
          ...{ name, family: name.split("-")[0]!, gid: null },
          socket: join(root, "run", `${name}.sock`),
          // There is none in most of these logs.
          occasional: name === SOCKETS.vault || name === SOCKETS.supervisor,
        })),
      },
      this.#clock.environment,
    );
  }

  static async begin(root: string, random: () => number, hasWitness: boolean): Promise<HonestLog> {
    const log = new HonestLog(root, random, hasWitness);
    await log.#auditd.init();
    if (log.#witness !== null) {
      const { policyFile } = log.#auditd.config;
      const lines = readFileSync(policyFile, "utf8").replace(/quorum .*\n/, "");
      writeFileSync(
        join(root, "policy.new"),
        `${lines}witness w1 ${log.#witness.verifierKey}\nquorum w1\n`,
      );
      renameSync(join(root, "policy.new"), policyFile);
    }
    await log.#start();
    log.#gate = await log.#connect("gate");
    log.#out = await log.#connect("out");
    return log;
  }

  get policyFile(): string {
    return this.#auditd.config.policyFile;
  }

  get policy(): Buffer {
    return readFileSync(this.policyFile);
  }

  logDir(slug: string): string {
    return join(this.#auditd.config.auditDir, slug);
  }

  get slug(): string {
    return readFileSync(join(this.#auditd.config.auditDir, "current"), "utf8").trim();
  }

  /** What is to be found in the shard that is written. */
  get now(): Expected {
    return this.#of(this.slug);
  }

  /** Facts, operations with their outcomes, and some that stay open for a while; addresses as commitments. */
  async write(count = 5 + Math.floor(this.#random() * 60)): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, () => this.#writeOne().catch(ignoreUnavailable)),
    );
  }

  /** Ended while entries are on their way: some are cut, and the producer sends them again. */
  async crash(): Promise<void> {
    const burst = Array.from({ length: 40 }, () => this.#writeOne().catch(ignoreUnavailable));
    await sleep(this.#random() * 30);
    await this.#auditd.stop("SIGKILL");
    this.now.abruptStarts += 1;
    await this.#start();
    await Promise.all(burst);
    await this.#closeOpenOnes();
  }

  async restart(): Promise<void> {
    await this.#auditd.stop("SIGTERM");
    await this.#start();
  }

  async dark(): Promise<void> {
    await this.#auditd.stop("SIGKILL");
    this.now.abruptStarts += 1;
    await this.#offFor("DARK", this.#someHours());
  }

  async stopped(): Promise<void> {
    await this.#auditd.stop("SIGTERM");
    await this.#offFor("STOPPED", this.#someHours());
  }

  /** Seconds or hours, forward or back, while auditd runs. */
  async stepClock(): Promise<void> {
    const far = this.#random() < 0.5 ? this.#someHours() : 2_000 + this.#random() * 30_000;
    this.#step(Math.round(this.#random() < 0.5 ? far : -far));
    await this.write(3);
    await sleep(STEP_SEEN_MS);
  }

  /** A clock that was wrong is set right while the machine is off. */
  async setBackWhileOff(): Promise<void> {
    await this.#auditd.stop("SIGTERM");
    this.#noteTime();
    this.#clock.set(this.#clock.aheadMs - this.#someHours());
    await this.#start();
  }

  /** The producer's process ends and another one begins, which closes what the first left open. */
  async newProducerLife(): Promise<void> {
    await this.#gate.close();
    // Away for heartbeats, or for none.
    await sleep(this.#random() * 1_000);
    this.#gate = await this.#connect("gate");
    await this.#closeOpenOnes();
  }

  /** The `appliance` command comes and goes. */
  async command(): Promise<void> {
    await using command = await this.#connect("appliance");
    await command.fact({
      type: "key.list",
      op: crypto.randomUUID(),
      actor: { sub: "operator", kind: "user" },
      object: user,
    });
  }

  /** The supervisor starts parts, and hashes before what they run. */
  async measure(starts: readonly Measured[]): Promise<void> {
    await using supervisor = await this.#connect("supervisor");
    for (const { part, files, image } of starts)
      await supervisor.fact({
        ...({
          type: "admin.measured",
          op: crypto.randomUUID(),
          actor: { sub: "supervisor", kind: "system" },
        } as const),
        ...{ object: { kind: "process", id: part }, detail: { files } },
        ...(image === null ? {} : { digests: { image } }),
      });
  }

  async cosign(): Promise<void> {
    await this.keep();
    await this.#cosignNewestOf(this.slug);
  }

  /** The witness is away for more running time than it may be: minutes of a clock that is set forward in small steps. */
  async runWithoutWitness(): Promise<void> {
    for (let minute = 0; minute < 18; minute += 1.9) {
      this.#step(1.9 * MINUTE_MS);
      await this.write(2);
      // One step is told before the next one comes.
      await sleep(STEP_SEEN_MS);
    }
    this.now.witness = "FAIL";
  }

  /** The auditor comes by and takes a checkpoint along. */
  async keep(): Promise<string> {
    const { index } = await this.#durableFact();
    await this.#gate.covered(index);
    const note = readFileSync(join(this.logDir(this.slug), "checkpoint"), "utf8");
    this.kept.set(this.slug, [...(this.kept.get(this.slug) ?? []), note]);
    return note;
  }

  /** The next shard is prepared in December and turns in January. */
  async turnOfTheYear(): Promise<void> {
    const year = Number(this.slug.slice(0, 4));
    this.#noteTime();
    const december = Math.max(Date.UTC(year, 11, 20, 10), this.#latestMs + DAY_MS);
    await this.#closeOpenOnes();
    for (const timeMs of [december, Date.UTC(year + 1, 0, 1, 0, 0, 5)]) {
      await this.#auditd.stop("SIGTERM");
      await this.#offFor("STOPPED", timeMs - this.#latestMs);
      await this.write(3);
      // What was late to be acknowledged on a busy machine would stay open over the weeks that pass here.
      await this.#closeOpenOnes();
    }
    const closed = this.slug;
    await this.#auditd.control({ verb: "clock-is-right" });
    await this.#connected();
    await this.#cosignNewestOf(closed);
    await this.write();
  }

  /** The folder is put back from a backup, and two people go on in a new shard. */
  async restore(): Promise<void> {
    const { auditDir } = this.#auditd.config;
    const backup = join(this.#root, "backup");
    await this.#closeOpenOnes();
    await this.cosign();
    await this.#auditd.stop("SIGTERM");
    cpSync(auditDir, backup, { recursive: true });
    await this.#start();
    await this.write();
    await this.#gate.close();
    const { highestAck } = this.#gate;
    await this.#auditd.stop("SIGTERM");
    rmSync(auditDir, { recursive: true });
    renameSync(backup, auditDir);
    writeFileSync(join(auditDir, "restored"), "");
    await this.#start();
    const again = this.#connect("gate", highestAck);
    await this.#heardOf(highestAck);
    await this.#auditd.control({ verb: "open-shard", approvers: ["ann", "bob"] });
    this.#gate = await again;
    await this.#connected();
    this.now.recovered = true;
    await this.#closeOpenOnes();
  }

  /** Before two people open a shard they see what everybody who was there has seen of the one that was lost; a busy machine takes its time. */
  async #heardOf(highestAck: AuditProducer["highestAck"]): Promise<void> {
    for (
      const endsAt = performance.now() + WELCOME_MS;
      performance.now() < endsAt;
      await sleep(20)
    ) {
      const { rolledBack } = await this.#auditd.control<LogStatus>({ verb: "status" });
      if (rolledBack !== null && rolledBack.seenSize > (highestAck?.index ?? -1)) return;
    }
    throw new Error("auditd has not heard what its producer holds");
  }

  /** A person whom all of this was about is erased; somebody else is not. Both are then disclosed. */
  async erase(): Promise<void> {
    this.#vault = new VaultInstance(this.#root, 7 * DAY_MS, 30 * DAY_MS);
    const vault = this.#vault;
    vault.start();
    await this.write();
    for (let n = 0; n < KEPT_VALUES; n++) {
      const commit = committer();
      const src = { addr: commit("src.addr", `198.51.100.${n}`) };
      const other = {
        actor: { ...actor, sub: "usr-2" },
        object: { ...user, id: "usr-2" },
      } as const;
      await this.#gate.fact({ ...this.#fact(), ...other, src }, commit.disclosures);
    }
    for (let tries = 0; (await vault.status())?.connected !== true; tries++) {
      if (tries > VAULT_TRIES) throw new Error("the vault has no connection to auditd");
      await sleep(RETRY_MS);
    }
    const [erased = {}] = await vault.askAll(erasureOf(actor.sub));
    if (erased["confirmed"] !== true)
      throw new Error(`the erasure ended as ${JSON.stringify(erased)}`);
    const { slug } = this;
    const asked = disclosureOf(`box.audit.acme/${slug}`, [actor.sub, "usr-2"]);
    const lines = await vault.askAll(asked);
    if (JSON.stringify(lines.at(-1)).includes('"error"'))
      throw new Error(JSON.stringify(lines.at(-1)));
    this.disclosed.set(slug, lines.slice(0, -1) as unknown as DisclosureLine[]);
  }

  async end(isWitnessed: boolean): Promise<void> {
    await this.#closeOpenOnes();
    if (isWitnessed) await this.cosign();
    await Promise.all([this.#gate.close(), this.#out.close(), this.#vault?.end()]);
    await this.#auditd.stop("SIGTERM");
  }

  /** What auditd said last. */
  get said(): string {
    return this.#auditd.output.trim().slice(-600);
  }

  async kill(): Promise<void> {
    await this.#vault?.end();
    await this.#auditd.stop("SIGKILL");
  }

  #of(slug: string): Expected {
    const known = this.expected.get(slug);
    if (known !== undefined) return known;
    const witness = this.#witness === null ? "NOT CHECKED" : "FAIL";
    const begun: Expected = { stretches: [], recovered: false, abruptStarts: 0, witness };
    this.expected.set(slug, begun);
    return begun;
  }

  /** It has ended; so much later than ever before it is started again. */
  async #offFor(kind: "DARK" | "STOPPED", forMs: number): Promise<void> {
    this.#noteTime();
    this.#clock.set(this.#latestMs + forMs - Date.now());
    this.now.stretches.push(kind);
    await this.#start();
  }

  #step(byMs: number): void {
    this.#noteTime();
    this.#clock.set(this.#clock.aheadMs + byMs);
    this.#noteTime();
    this.#auditd.signal("SIGWINCH");
  }

  #noteTime(): void {
    this.#latestMs = Math.max(this.#latestMs, this.#clock.now());
  }

  async #cosignNewestOf(slug: string): Promise<void> {
    if (this.#witness === null) return;
    const note = readFileSync(join(this.logDir(slug), "checkpoint"), "utf8");
    const { origin, size, line } = this.#witness.lineFor(note, this.#clock.now());
    const { accepted } = await this.#out.cosign(origin, size, line);
    if (accepted !== 1) throw new Error(`auditd took no cosignature of ${origin} at ${size}`);
    this.#of(slug).witness = "PASS";
  }

  /** On a busy machine one may be late. */
  async #durableFact(): Promise<LeafRef> {
    for (let tries = 0; ; tries++)
      try {
        return await this.#gate.fact(this.#fact());
      } catch (error) {
        ignoreUnavailable(error);
        if (tries === MAX_TRIES) throw error;
        await sleep(RETRY_MS);
      }
  }

  async #start(): Promise<void> {
    await this.#auditd.start();
    await this.#connected();
  }

  /** Connections end with auditd, and where a shard turns; a producer tries again of itself. */
  async #connected(): Promise<void> {
    const isThere = (): boolean =>
      (this.#gate?.connected ?? true) && (this.#out?.connected ?? true);
    for (const endsAt = performance.now() + WELCOME_MS; !isThere() && performance.now() < endsAt; )
      await sleep(10);
  }

  #connect(
    who: keyof typeof SOCKETS,
    highestAck?: AuditProducer["highestAck"],
  ): Promise<AuditProducer> {
    const socketPath = join(this.#root, "run", `${SOCKETS[who]}.sock`);
    const boot = crypto.randomUUID();
    return connectProducer({
      socketPath,
      boot,
      highestAck,
      connectTimeoutMs: WELCOME_MS,
      ...(who === "out" ? { seen: () => [] } : {}),
    });
  }

  async #writeOne(): Promise<void> {
    const kind = this.#random();
    if (kind < 0.5) {
      await this.#gate.fact(this.#fact());
      return;
    }
    const commit = committer();
    const op = crypto.randomUUID();
    const src = { addr: commit("src.addr", `192.0.2.${Math.floor(this.#random() * 256)}`) };
    const staysOpen = this.#random() < 0.1;
    await this.#gate.requested({ ...submit(op), src }, commit.disclosures);
    if (!staysOpen) await this.#gate.outcome({ ...submit(op), phase: "completed" });
  }

  #fact() {
    return { type: "key.list", op: crypto.randomUUID(), actor, object: user } as const;
  }

  /** An outcome that was late on its way may come first; then there is nothing left to close. */
  async #closeOpenOnes(): Promise<void> {
    for (const { op, type } of await this.#gate.openOperations())
      if (type === "job.submit")
        await this.#gate
          .outcome({ ...submit(op), phase: "failed", outcome: { code: "interrupted" } })
          .catch((error: unknown) => {
            if (!(error instanceof AuditRejected)) ignoreUnavailable(error);
          });
  }

  #someHours(): number {
    return Math.round((3 + this.#random() * 600) * MINUTE_MS);
  }
}

const actor = { sub: "usr-1", kind: "user" } as const;
const user = { kind: "user", id: "usr-1" } as const;
const submit = (op: string) =>
  ({
    type: "job.submit",
    op,
    actor,
    object: { kind: "job", id: "job-1" },
    detail: { shards: 2, input_bytes: 1_000_000 },
  }) as const;

function ignoreUnavailable(error: unknown): void {
  if (!(error instanceof AuditUnavailable)) throw error;
}
