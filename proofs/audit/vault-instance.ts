/** A real vault of a proof's own, beside an auditd that has the producer `vault`; its epochs are short, so that they end within the proof. */
import { type ChildProcess, spawn } from "node:child_process";
import { createDecipheriv } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { RetentionClasses, VaultConfig } from "@resontech/contracts/vault-config";
import type { VaultStatus } from "@resontech/contracts/vault-control";

const VAULT = fileURLToPath(import.meta.resolve("@resontech/audit/vault"));
const RETENTION: RetentionClasses = { leavesYears: 7, disclosuresMonths: 24, anonymousMonths: 24 };
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Call it before auditd starts. */
export function addVaultProducer(root: string, { producers }: AuditdConfig): void {
  producers.push({ name: "vault", family: "vault", socket: join(root, "run/vault.sock"), gid: null });
}

export class VaultInstance {
  readonly config: VaultConfig;
  readonly #configFile: string;
  #child: ChildProcess | null = null;

  constructor(root: string, epochMs: number, epochLifeMs: number) {
    for (const folder of ["sealed", "vault-keys", "epochs", "backups", "vault-run", "tokens-run"])
      mkdirSync(join(root, folder), { mode: 0o700 });
    this.config = {
      ...{ dataDir: join(root, "sealed"), keysDir: join(root, "vault-keys"), keyFile: join(root, "vault.key") },
      ...{ epochsDir: join(root, "epochs"), backupsDir: join(root, "backups") },
      ...{ auditSocket: join(root, "run/vault.sock"), controlSocket: join(root, "vault-run/sock") },
      tokensSocket: join(root, "tokens-run/sock"),
      ...{ retention: RETENTION, pollMs: 50, backupMs: 200, epochMs, epochLifeMs, logLevel: "info" },
    };
    this.#configFile = join(root, "vault.json");
    writeFileSync(this.#configFile, JSON.stringify(this.config));
  }

  start(): void {
    this.#child = spawn(process.execPath, [VAULT, "--config", this.#configFile], { stdio: ["ignore", "ignore", "inherit"] });
  }

  async askAll(request: object): Promise<Record<string, unknown>[]> {
    const socket = connect(this.config.controlSocket);
    socket.end(`${JSON.stringify(request)}\n`);
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    const lines = text.split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
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
    const kek = readFileSync(this.config.keyFile);
    const db = new Database(join(this.config.keysDir, "keys.sqlite"), { readonly: true });
    try {
      const rows = db
        .prepare<[], { subject: string; month: string; wrapped: Buffer }>("SELECT subject, month, wrapped FROM keys")
        .all();
      return rows
        .filter(({ subject }) => subjects.includes(subject))
        .map(({ subject, month, wrapped }) => ({ wrapped, key: opened(kek, wrapped, `${subject}\n${month}`) }));
    } finally {
      db.close();
    }
  }

  sealedOf(subjects: readonly string[]): Buffer[] {
    const db = new Database(join(this.config.dataDir, "sealed.sqlite"), { readonly: true });
    try {
      const rows = db.prepare<[], { subject: string; sealed: Buffer }>("SELECT subject, sealed FROM commitments").all();
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
}

/** `nonce12 ‖ ciphertext ‖ tag16`, AES-256-GCM. */
function opened(kek: Buffer, wrapped: Buffer, purpose: string): Buffer {
  const decipher = createDecipheriv("aes-256-gcm", kek, wrapped.subarray(0, NONCE_BYTES)).setAAD(Buffer.from(purpose));
  decipher.setAuthTag(wrapped.subarray(wrapped.length - TAG_BYTES));
  return Buffer.concat([decipher.update(wrapped.subarray(NONCE_BYTES, wrapped.length - TAG_BYTES)), decipher.final()]);
}
