/** A real vault as its own process, beside a real auditd on the same folder. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import type { VaultStatus } from "@resontech/contracts/vault-control";
import type { Test } from "tap";
import { type AuditProducer, committer, connectProducer } from "../../src/log/producer/producer.ts";
import { until } from "../out/helper.ts";
import { PEOPLE, pinnedIn } from "../step-up-people.ts";
import { AuditdFixture, linesFrom, readLeaves, temporaryFolder } from "../helper.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

export class VaultFixture {
  readonly root: string;
  readonly config: VaultConfig;
  readonly configFile: string;
  #child: ChildProcess | null = null;
  #output = "";

  constructor(root: string, changes: Partial<VaultConfig> = {}) {
    this.root = root;
    for (const folder of ["sealed", "vault-keys", "epochs", "backups", "vault-run", "tokens-run"])
      mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
    for (const folder of ["vault-run", "tokens-run"]) chmodSync(join(root, folder), 0o750);
    this.config = {
      dataDir: join(root, "sealed"),
      keysDir: join(root, "vault-keys"),
      keyFile: join(root, "vault.key"),
      epochsDir: join(root, "epochs"),
      backupsDir: join(root, "backups"),
      stepUpKeysFile: pinnedIn(root),
      auditSocket: join(root, "run", "vault.sock"),
      controlSocket: join(root, "vault-run", "sock"),
      tokensSocket: join(root, "tokens-run", "sock"),
      retention: { leavesYears: 7, disclosuresMonths: 24, anonymousMonths: 24 },
      pollMs: 50,
      backupMs: 3_600_000,
      epochMs: 604_800_000,
      epochLifeMs: 2_592_000_000,
      logLevel: "info",
      ...changes,
    };
    this.configFile = join(root, "vault.json");
    this.writeConfig();
  }

  writeConfig(): void {
    writeFileSync(this.configFile, JSON.stringify(this.config));
  }

  /** Resolves when it listens; rejects with its output when it ends before. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [shippedProgram("vault"), "--config", this.configFile], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    this.#output = "";
    const listening = Promise.withResolvers<void>();
    const take = (chunk: Buffer): void => {
      this.#output += chunk.toString("utf8");
      if (this.#output.includes('"msg":"listening"')) listening.resolve();
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("close", (code) =>
      listening.reject(new Error(`vault ended with ${code}: ${this.#output}`)),
    );
    await listening.promise;
  }

  /** `vault restore COPY`. */
  restore(copy: string): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(
      process.execPath,
      [shippedProgram("vault"), "restore", copy, "--config", this.configFile],
      {
        encoding: "utf8",
      },
    );
  }

  get output(): string {
    return this.#output;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** Asks on the operator's socket. @returns every line of the answer */
  async askAll(request: object): Promise<Record<string, unknown>[]> {
    return await linesFrom(this.config.controlSocket, request);
  }

  async ask(request: object): Promise<Record<string, unknown>> {
    return (await this.askAll(request)).at(-1) ?? {};
  }

  async status(): Promise<VaultStatus> {
    return (await this.ask({ verb: "status" })) as unknown as VaultStatus;
  }
}

/** With an approval of its own. */
export const erase = (subject: string, request = "req-1", legalBasis = "gdpr-17") => ({
  ...({ verb: "erase", subject, request, legalBasis } as const),
  approval: PEOPLE.erasureProof({ subject, request, legalBasis }),
});

/** With the signature of an officer. */
export const setHold = (subject = "usr-1", hold = "case-7") => ({
  ...({ verb: "hold", subject, hold } as const),
  approval: PEOPLE.holdProof(subject, hold),
});

/** With the signatures of two people, as {@link disclosing}. */
export const liftHold = (subject = "usr-1", hold = "case-7") => ({
  ...({ verb: "lift", subject, hold } as const),
  approval: PEOPLE.liftProof(subject, hold),
});

/** @param log its origin, or whose shard that is written now */
export const disclosing = (
  log: AuditdFixture | string,
  subjects: string[] = ["usr-1"],
  receiver = "auditor-1",
) => {
  const origin = typeof log === "string" ? log : `box.audit.acme/${log.currentSlug}`;
  const asked = { origin, subjects, receiver };
  return { ...({ verb: "disclose" } as const), ...asked, approval: PEOPLE.disclosureProof(asked) };
};

/** auditd that knows the vault, not started. */
export function auditdFor(root: string): AuditdFixture {
  const names = ["coordinator-gate", "vault"];
  const producers = names.map((name) => ({
    name,
    family: name,
    socket: join(root, "run", `${name}.sock`),
    gid: null,
  }));
  return new AuditdFixture(root, { producers, learnMs: 0, heartbeatMs: 200 });
}

export async function startedBoth(
  t: Test,
  changes: Partial<VaultConfig> = {},
): Promise<[AuditdFixture, VaultFixture]> {
  const root = temporaryFolder(t);
  const auditd = auditdFor(root);
  await auditd.makeLog();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  const vault = new VaultFixture(root, changes);
  t.teardown(() => vault.stop("SIGKILL"));
  await vault.start();
  await until(async () => (await vault.status()).connected);
  return [auditd, vault];
}

export function gateOf(auditd: AuditdFixture): Promise<AuditProducer> {
  return connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: crypto.randomUUID(),
  });
}

export type Said = { index: number; subject: string; salt: string; value: string };

/** One entry with one personal value. */
export async function say(gate: AuditProducer, subject: string, value: string): Promise<Said> {
  const commit = committer();
  const addr = commit("src.addr", value);
  const { index } = await gate.fact(
    {
      ...{ type: "key.list", op: crypto.randomUUID(), src: { addr } },
      ...(subject === "anonymous"
        ? {
            actor: { sub: "anonymous", kind: "anonymous" },
            object: { kind: "user", id: "anonymous" },
          }
        : { actor: { sub: subject, kind: "user" }, object: { kind: "user", id: subject } }),
    },
    commit.disclosures,
  );
  return { index, subject, salt: commit.disclosures[0]!.salt, value };
}

/** As if what a stopped vault has of somebody, or of all, had been logged three years ago: keys are looked for by the month that is written beside the rows. */
export function backdate(root: string, subject: string | null): void {
  for (const [file, table] of [
    ["sealed/sealed.sqlite", "commitments"],
    ["vault-keys/keys.sqlite", "keys"],
  ] as const) {
    const db = new Database(join(root, file));
    db.prepare(`UPDATE ${table} SET month = '2023-11' WHERE subject = coalesce(?, subject)`).run(
      subject,
    );
    db.close();
  }
}

/** Files below `folder` that hold these bytes. */
export function filesHolding(folder: string, bytes: string | Buffer): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter(
      (path) =>
        statSync(path, { throwIfNoEntry: false })?.isFile() === true &&
        readFileSync(path).includes(bytes),
    );
}

export const atRest = (vault: VaultFixture) => async () => {
  const { connected, underWay, fault } = await vault.status();
  return connected && underWay === 0 && fault === null;
};

/** Of each operation of this type what the log says of it, in order. */
export async function phasesOf(auditd: AuditdFixture, type: string): Promise<string[]> {
  const leaves = (await readLeaves(auditd.logDir)).filter((leaf) => leaf.type === type);
  const ops = Map.groupBy(leaves, ({ op }) => op);
  return [...ops.values()].map((all) =>
    all.map(({ phase, outcome }) => [phase, outcome?.code].join(" ").trim()).join(", "),
  );
}

/** The vault is at rest before what it says last is in the log: whoever looks for that waits for it. */
export const isSaidSo = (auditd: AuditdFixture, type: string, wanted: string) => async () =>
  (await phasesOf(auditd, type)).join("; ") === wanted;

/** Nothing behind it is taken over, so an erasure that is asked for stays under way. @returns puts it out of the way, of an auditd that is started anew */
export async function damagedSegment(
  auditd: AuditdFixture,
  vault: VaultFixture,
  gate: AuditProducer,
): Promise<() => Promise<void>> {
  await vault.stop();
  await say(gate, "usr-1", "10.0.0.2");
  const folder = join(auditd.logDir, "disclosures");
  const [segment = ""] = readdirSync(folder);
  const file = join(folder, segment);
  writeFileSync(file, readFileSync(file, "utf8").replace("10.0.0.2", "10.0.0.3"));
  return async () => {
    await auditd.stop();
    renameSync(file, join(auditd.root, "aside"));
    await auditd.start();
  };
}
