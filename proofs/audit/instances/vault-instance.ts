/** A real vault of a proof's own, beside an auditd that has the producer `vault`; its epochs are short, so that they end within the proof. */
import { linesFrom } from "@resontech/audit/testing/lines-from";
import type { ChildProcess } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { RetentionClasses, VaultConfig } from "@resontech/contracts/vault-config";
import type { VaultStatus } from "@resontech/contracts/vault-control";
import { PEOPLE, pinnedIn } from "@resontech/audit/testing/step-up-people";
import { spawnPrinting } from "./auditd-instance.ts";
import { openBox } from "./box.ts";

const VAULT = fileURLToPath(import.meta.resolve("@resontech/vault/main"));
const RETENTION: RetentionClasses = { leavesYears: 7, disclosuresMonths: 24, anonymousMonths: 24 };
const TOKEN_BYTES = 16;

/** An erasure that two people signed. */
export function erasureOf(subject: string): object {
  const asked = { subject, request: "req-1", legalBasis: "gdpr-17" };
  return { verb: "erase", ...asked, approval: PEOPLE.erasureProof(asked) };
}

/** A disclosure that two people signed. @param origin of the shard */
export function disclosureOf(origin: string, subjects: readonly string[]): object {
  const asked = { origin, subjects, receiver: "auditor-1" };
  return { verb: "disclose", ...asked, approval: PEOPLE.disclosureProof(asked) };
}

/** Call it before auditd starts. */
export function addVaultProducer(root: string, { producers }: AuditdConfig): void {
  producers.push({
    name: "vault",
    family: "vault",
    socket: join(root, "run/vault.sock"),
    gid: null,
  });
}

export class VaultInstance {
  readonly config: VaultConfig;
  readonly #configFile: string;
  readonly #printsTo: string | null;
  #child: ChildProcess | null = null;

  /** @param printsTo see `spawnPrinting` */
  constructor(
    root: string,
    epochMs: number,
    epochLifeMs: number,
    { printsTo, logLevel = "info" }: { printsTo?: string; logLevel?: string } = {},
  ) {
    this.#printsTo = printsTo ?? null;
    for (const folder of ["sealed", "vault-keys", "epochs", "backups", "vault-run", "tokens-run"])
      mkdirSync(join(root, folder), { mode: 0o700 });
    this.config = {
      ...{
        dataDir: join(root, "sealed"),
        keysDir: join(root, "vault-keys"),
        keyFile: join(root, "vault.key"),
      },
      ...{ epochsDir: join(root, "epochs"), backupsDir: join(root, "backups") },
      stepUpKeysFile: pinnedIn(root),
      ...{ auditSocket: join(root, "run/vault.sock"), controlSocket: join(root, "vault-run/sock") },
      tokensSocket: join(root, "tokens-run/sock"),
      ...{ retention: RETENTION, pollMs: 50, backupMs: 200, epochMs, epochLifeMs, logLevel },
    };
    this.#configFile = join(root, "vault.json");
    writeFileSync(this.#configFile, JSON.stringify(this.config));
  }

  start(): void {
    this.#child = spawnPrinting([VAULT, "--config", this.#configFile], this.#printsTo);
  }

  async askAll(request: object): Promise<Record<string, unknown>[]> {
    return await linesFrom(this.config.controlSocket, request);
  }

  /** Null while it does not answer. */
  async status(): Promise<VaultStatus | null> {
    return await this.askAll({ verb: "status" }).then(
      ([status]) => status as unknown as VaultStatus,
      () => null,
    );
  }

  /** Opened here, without the vault's code. */
  keysOf(subjects: readonly string[]): { key: Buffer; wrapped: Buffer }[] {
    const { kek } = this;
    const db = this.#keysDatabase();
    try {
      const rows = db
        .prepare<[], { subject: string; month: string; wrapped: Buffer }>(
          "SELECT subject, month, wrapped FROM keys",
        )
        .all();
      return rows
        .filter(({ subject }) => subjects.includes(subject))
        .map(({ subject, month, wrapped }) => ({
          wrapped,
          key: openBox(kek, wrapped, Buffer.from(`${subject}\n${month}`)),
        }));
    } finally {
      db.close();
    }
  }

  /** What the key-encryption key's file holds. */
  get kek(): Buffer {
    return readFileSync(this.config.keyFile);
  }

  /** Makes the token of a value, from now on without the vault. */
  tokenMaker(): (field: string, value: string) => Buffer {
    const db = this.#keysDatabase();
    try {
      const wrapped = db
        .prepare<[], Buffer>("SELECT value FROM meta WHERE name = 'token-key'")
        .pluck()
        .get();
      if (wrapped === undefined) throw new Error("the vault has no key of tokens yet");
      const key = openBox(this.kek, wrapped, Buffer.from("\ntoken"));
      return (field, value) =>
        createHmac("sha256", key).update(`${field}\0${value}`).digest().subarray(0, TOKEN_BYTES);
    } finally {
      db.close();
    }
  }

  sealedOf(subjects: readonly string[]): Buffer[] {
    const db = new Database(join(this.config.dataDir, "sealed.sqlite"), { readonly: true });
    try {
      const rows = db
        .prepare<[], { subject: string; sealed: Buffer }>("SELECT subject, sealed FROM commitments")
        .all();
      return rows.filter(({ subject }) => subjects.includes(subject)).map(({ sealed }) => sealed);
    } finally {
      db.close();
    }
  }

  async end(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }

  #keysDatabase(): Database.Database {
    return new Database(join(this.config.keysDir, "keys.sqlite"), { readonly: true });
  }
}
