/** A real vault as its own process, beside a real auditd on the same folder. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import type { VaultStatus } from "@resontech/contracts/vault-control";
import { pinnedIn } from "@resontech/audit/testing/step-up-people";
import { linesFrom } from "@resontech/audit/testing/lines-from";
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

export const atRest = (vault: VaultFixture) => async () => {
  const { connected, underWay, fault } = await vault.status();
  return connected && underWay === 0 && fault === null;
};
