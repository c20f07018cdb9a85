/**
 * A log that three witnesses countersign over an hour and a half, with all that an export may hold: checkpoints that were kept,
 * values that were opened, and marks of those that were erased. And what somebody with the disk and the log's keys can make of it.
 */
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type DisclosedRange, exportLog } from "@resontech/audit/export";
import { type AuditProducer, committer, connectProducer } from "@resontech/audit/producer";
import { nodePlatform, type Report, verify } from "@resontech/verifier/judge";
import type { DisclosureLine } from "@resontech/contracts/vault-control";
import { AuditdProcess } from "../crash/auditd-process.ts";
import { makeDiskFolders } from "../crash/try-image.ts";
import { Cosigner } from "../honest/cosigner.ts";
import { SetClock } from "../instances/set-clock.ts";
import { disclosureOf, erasureOf, VaultInstance } from "../instances/vault-instance.ts";
import { flipped } from "./flipped.ts";
import { MixedEntries } from "./mixed-entries.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Below the silence that the log may have: so all of the time counts as running time. */
const STEP_MS = 1.9 * MINUTE_MS;
/** More than the 15 minutes that may be without a witness: so the newest checkpoint needs its cosignatures. */
const PART_OF_HOUR_MS = 20 * MINUTE_MS;
/** One checkpoint an hour is kept; without it the stretch to the next one is longer than the 75 minutes that may be. */
const HOUR_MS = 61 * MINUTE_MS;
const SOCKETS = { gate: "coordinator-gate", out: "audit-out", vault: "vault" } as const;
const SUBJECTS = ["usr-erased", "usr-kept"] as const;
const VAULT_TRIES = 120;
const RETRY_MS = 500;

export type WitnessedLog = {
  tar: Buffer;
  policy: Buffer;
  honest: Report;
  /** Of a log that goes its own way from a copy of the disk, keys included. */
  rebuilt: Report;
};

export async function makeWitnessedLog(root: string): Promise<WitnessedLog> {
  const life = await Life.begin(root);
  try {
    await life.startCopied();
    await life.passTime(PART_OF_HOUR_MS);
    await life.cosign();
    await life.eraseOne();
    await life.passTime(HOUR_MS);
    await life.cosign();
    await life.passTime(PART_OF_HOUR_MS);
    const tar = await life.exportDisclosing();
    return {
      tar,
      policy: life.policy,
      honest: await life.judge(tar),
      rebuilt: await life.judge(await life.rebuild()),
    };
  } finally {
    await life.end();
  }
}

class Life {
  readonly #home: string;
  readonly #copy: string;
  readonly #clock: SetClock;
  readonly #auditd: AuditdProcess;
  readonly #forked: AuditdProcess;
  readonly #witnesses = [1, 2, 3].map((n) => new Cosigner(`witness.example/w${n}`));
  readonly #vault: VaultInstance;
  #gate!: AuditProducer;
  #entries!: MixedEntries;
  #out!: AuditProducer;

  private constructor(root: string) {
    this.#home = join(root, "witnessed");
    this.#copy = join(root, "rebuilt");
    for (const folder of [this.#home, this.#copy]) mkdirSync(folder);
    this.#clock = new SetClock(join(root, "clock"));
    this.#auditd = auditdIn(this.#home, this.#clock);
    this.#forked = auditdIn(this.#copy, this.#clock);
    this.#vault = new VaultInstance(this.#home, 7 * DAY_MS, 30 * DAY_MS);
  }

  static async begin(root: string): Promise<Life> {
    const life = new Life(root);
    makeDiskFolders(join(life.#home, "disk"));
    await life.#auditd.init();
    const { policyFile } = life.#auditd.config;
    const logs = readFileSync(policyFile, "utf8").match(/^log .*\n/gm)!;
    const witnesses = life.#witnesses.map(
      ({ verifierKey }, at) => `witness w${at + 1} ${verifierKey}\n`,
    );
    writeFileSync(
      `${policyFile}.new`,
      [...logs, ...witnesses, "group three 3 w1 w2 w3\n", "quorum three\n"].join(""),
    );
    renameSync(`${policyFile}.new`, policyFile);
    return life;
  }

  get policy(): Buffer {
    return readFileSync(this.#auditd.config.policyFile);
  }

  /** Somebody has a copy of the disk from its first minute on. */
  async startCopied(): Promise<void> {
    await this.#auditd.start();
    const first = await connect(this.#home, "gate");
    await new MixedEntries(first).write(20);
    await first.close();
    await this.#auditd.stop("SIGTERM");
    cpSync(join(this.#home, "disk"), join(this.#copy, "disk"), { recursive: true });
    await this.#auditd.start();
    this.#vault.start();
    this.#gate = await connect(this.#home, "gate");
    this.#entries = new MixedEntries(this.#gate);
    this.#out = await connect(this.#home, "out");
  }

  /** auditd's clock is set forward in small steps, with an entry at each; one in four has values of a person. */
  async passTime(ms: number): Promise<void> {
    for (let left = ms, step = 0; left > 0; left -= STEP_MS, step++) {
      this.#clock.set(this.#clock.aheadMs + Math.min(left, STEP_MS));
      this.#auditd.signal("SIGWINCH");
      // It handles the signal once it has done what came before the first answer, so before what follows the second.
      for (let answers = 0; answers < 2; answers++) await this.#gate.status();
      if (step % 4 === 0) await this.#personal(SUBJECTS[(step / 4) % 2]!, step);
      else await this.#entries.write(1);
    }
  }

  async cosign(): Promise<void> {
    const { index } = await this.#entries.write(1);
    await this.#gate.covered(index);
    const note = readFileSync(join(this.#auditd.logDir, "checkpoint"), "utf8");
    const signed = this.#witnesses.map((witness) => witness.lineFor(note, this.#clock.now()));
    const { origin, size } = signed[0]!;
    const { accepted } = await this.#out.cosign(
      origin,
      size,
      signed.map(({ line }) => line).join(""),
    );
    if (accepted !== this.#witnesses.length)
      throw new Error(`auditd took ${accepted} cosignatures`);
  }

  async eraseOne(): Promise<void> {
    for (let tries = 0; (await this.#vault.status())?.connected !== true; tries++) {
      if (tries > VAULT_TRIES) throw new Error("the vault has no connection to auditd");
      await sleep(RETRY_MS);
    }
    const [erased = {}] = await this.#vault.askAll(erasureOf(SUBJECTS[0]));
    if (erased["confirmed"] !== true)
      throw new Error(`the erasure ended as ${JSON.stringify(erased)}`);
  }

  /** Of both people, under a checkpoint that the witnesses countersign then. */
  async exportDisclosing(): Promise<Buffer> {
    const [origin = ""] = readFileSync(join(this.#auditd.logDir, "checkpoint"), "utf8").split("\n");
    const answers = await this.#vault.askAll(disclosureOf(origin, SUBJECTS));
    if (answers.length < 2)
      throw new Error(`the vault discloses nothing: ${JSON.stringify(answers)}`);
    const lines = answers.slice(0, -1) as unknown as DisclosureLine[];
    await this.cosign();
    const disclose = async ({ from, to }: DisclosedRange): Promise<string[]> =>
      lines.filter(({ index }) => index >= from && index < to).map((line) => JSON.stringify(line));
    return await exported(this.#auditd, { disclose });
  }

  /** Whoever rebuilds it has all that the appliance has; the witnesses countersign no second history. */
  async rebuild(): Promise<Buffer> {
    await this.#auditd.stop("SIGTERM");
    await this.#forked.start();
    const producer = await connect(this.#copy, "gate");
    const { index } = await new MixedEntries(producer).write(30);
    await producer.covered(index);
    await producer.close();
    return await exported(this.#forked);
  }

  async judge(tar: Buffer): Promise<Report> {
    return await verify({
      bundle: flipped(tar, null),
      policy: this.policy,
      platform: nodePlatform,
    });
  }

  async end(): Promise<void> {
    await Promise.all([this.#gate?.close(), this.#out?.close()]);
    await this.#vault.end();
    for (const auditd of [this.#auditd, this.#forked]) await auditd.stop("SIGTERM");
  }

  /** Three values of one person. */
  async #personal(sub: string, step: number): Promise<void> {
    const commit = committer();
    const src = {
      addr: commit("src.addr", `198.51.100.${step}`),
      agent: commit("src.agent", 'Gerät "Zoë"\\\n'),
    };
    const pii = [
      { field: "email" as const, commitment: commit("pii.email", `${sub}-${step}@example.org`) },
    ];
    const about = { actor: { sub, kind: "user" }, object: { kind: "user", id: sub } } as const;
    await this.#gate.fact(
      { type: "key.list", op: crypto.randomUUID(), ...about, src, pii },
      commit.disclosures,
    );
  }
}

function auditdIn(home: string, clock: SetClock): AuditdProcess {
  const producers = Object.values(SOCKETS).map((name) => ({
    ...{ name, family: name === SOCKETS.gate ? "coordinator" : name, gid: null },
    socket: join(home, "run", `${name}.sock`),
  }));
  return new AuditdProcess(
    home,
    join(home, "disk"),
    { ballastBytes: 0, producers },
    clock.environment,
  );
}

async function connect(home: string, who: "gate" | "out"): Promise<AuditProducer> {
  const socketPath = join(home, "run", `${SOCKETS[who]}.sock`);
  return await connectProducer({
    socketPath,
    boot: crypto.randomUUID(),
    ...(who === "out" ? { seen: () => [] } : {}),
  });
}

async function exported(
  { logDir }: AuditdProcess,
  options: Pick<Parameters<typeof exportLog>[0], "disclose"> = {},
): Promise<Buffer> {
  const file = `${logDir}.tar`;
  await exportLog({ logDir, file, witnessedFor: 0, ...options });
  return readFileSync(file);
}
