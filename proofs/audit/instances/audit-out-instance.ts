/** A real audit-out of a proof's own, beside an auditd that has the producer `audit-out`. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Sink } from "@resontech/contracts/audit-out-config";
import { spawnPrinting } from "./auditd-instance.ts";

const AUDIT_OUT = fileURLToPath(import.meta.resolve("@resontech/audit-out/main"));

export type AuditOutStatus = {
  shards: { size: number }[];
  index: { behind: number };
  sinks: { lag: number; state: string; error: string | null }[];
};

/** Call it before auditd starts. */
export function addAuditOutProducer(root: string, { producers }: AuditdConfig): void {
  producers.push({
    name: "audit-out",
    family: "audit-out",
    socket: join(root, "run/out.sock"),
    gid: null,
  });
}

export class AuditOutInstance {
  readonly #child: ChildProcess;
  readonly #searchSocket: string;
  readonly stateDir: string;

  /**
   * @param tokensSocket the vault's; without it nothing is found by a value
   * @param printsTo see `spawnPrinting`
   */
  constructor(
    root: string,
    { auditDir, policyFile }: AuditdConfig,
    sinks: readonly Sink[],
    {
      tokensSocket,
      printsTo,
      logLevel = "info",
    }: { tokensSocket?: string; printsTo?: string; logLevel?: string } = {},
  ) {
    this.stateDir = join(root, "state");
    this.#searchSocket = join(root, "search/search.sock");
    for (const folder of ["state", "search"])
      mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
    const file = join(root, "audit-out.json");
    const sockets = {
      auditSocket: join(root, "run/out.sock"),
      searchSocket: this.#searchSocket,
      tokensSocket: tokensSocket ?? null,
    };
    rmSync(file, { force: true });
    writeFileSync(
      file,
      JSON.stringify({
        auditDir,
        policyFile,
        stateDir: this.stateDir,
        ...sockets,
        sinks,
        logLevel,
      }),
      {
        mode: 0o440,
      },
    );
    this.#child = spawnPrinting([AUDIT_OUT, "--config", file], printsTo ?? null);
  }

  async get<T>(path: string): Promise<T> {
    const sent = request({ socketPath: this.#searchSocket, path });
    sent.end();
    const [response] = await once(sent, "response");
    let body = "";
    for await (const chunk of response) body += String(chunk);
    if (response.statusCode !== 200) throw new Error(`${path}: ${body}`);
    return JSON.parse(body) as T;
  }

  /** Entries that hold this value. */
  async holding(field: string, value: string): Promise<{ object: string }[]> {
    const query = new URLSearchParams({ holds: `${field}=${value}` }).toString();
    const { events } = await this.get<{ events: { object: string }[] }>(`/events?${query}`);
    return events;
  }

  status(): Promise<AuditOutStatus> {
    return this.get("/status");
  }

  get rssMiB(): number {
    const [, kib = "0"] =
      /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, "utf8")) ?? [];
    return Math.round(Number(kib) / 1_024);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }
}
