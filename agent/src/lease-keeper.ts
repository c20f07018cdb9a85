/** Beats, counts the lease, and keeps the lease file that every job container's PID 1 reads. */
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Inventory, RegisterRequest } from "@resontech/contracts/agent-protocol";
import type { Logger } from "pino";
import { bootId, bootTimeMs, bootTimeNs } from "./boot-clock.ts";
import { type CoordinatorClient, RefusedError } from "./bus/coordinator-client.ts";
import { judgeLease, type LeaseVerdict, nextBeatMs } from "./decisions/lease.ts";

const DEFAULT_BEAT_MS = 5_000;
const RETRY_MS = 1_000;

export type LeaseHandlers = {
  held: () => RegisterRequest["held"];
  /** The desired set has another version than the one that was carried out last. */
  onDesiredVersion: (version: number) => void;
  /** No beat was answered for a whole lease: nothing may go on. */
  onLost: () => void;
};

export class LeaseKeeper {
  readonly #coordinator: CoordinatorClient;
  readonly #leaseDir: string;
  readonly #dataDir: string;
  readonly #inventory: Inventory;
  readonly #handlers: LeaseHandlers;
  readonly #log: Logger;
  #sentAtMs: number | null = null;
  #leaseMs = 30_000;
  #beatMs = DEFAULT_BEAT_MS;
  #isLost = false;
  #loopLagMs = 0;

  constructor(options: {
    coordinator: CoordinatorClient;
    dataDir: string;
    leaseDir: string;
    inventory: Inventory;
    handlers: LeaseHandlers;
    log: Logger;
  }) {
    this.#coordinator = options.coordinator;
    this.#dataDir = options.dataDir;
    this.#leaseDir = options.leaseDir;
    this.#inventory = options.inventory;
    this.#handlers = options.handlers;
    this.#log = options.log;
    mkdirSync(this.#leaseDir, { recursive: true, mode: 0o755 });
  }

  get verdict(): LeaseVerdict {
    return judgeLease(this.#sentAtMs, this.#leaseMs, bootTimeMs());
  }

  async run(signal: AbortSignal): Promise<void> {
    const watch = this.#watchClock(signal);
    let registered = false;
    while (!signal.aborted) {
      const sentAtMs = bootTimeMs();
      try {
        if (!registered) {
          await this.#register(sentAtMs);
          registered = true;
        } else if (!(await this.#beat(sentAtMs))) registered = false;
        await sleep(nextBeatMs(this.#beatMs, Math.random()), undefined, { signal });
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof RefusedError && error.code === "stale_epoch") registered = false;
        this.#log.warn({ err: error }, registered ? "a beat was not answered" : "not registered yet");
        await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await watch;
  }

  async #register(sentAtMs: number): Promise<void> {
    const reply = await this.#coordinator.register({
      protocol: 1,
      bootId: bootId(),
      agentVersion: "0.1.0",
      inventory: this.#inventory,
      held: this.#handlers.held(),
    });
    this.#beatMs = reply.beatIntervalMs;
    this.#renew(sentAtMs, reply.leaseMs);
    this.#handlers.onDesiredVersion(-1);
    this.#log.info({ nodeEpoch: reply.nodeEpoch }, "registered");
  }

  /** False when the coordinator asks for a new registration. */
  async #beat(sentAtMs: number): Promise<boolean> {
    const { bavail, bsize } = statfsSync(this.#dataDir);
    const nonce = randomUUID();
    const reply = await this.#coordinator.beat({
      nonce,
      bootId: bootId(),
      held: this.#handlers.held(),
      inventoryDigest: createHash("sha256").update(JSON.stringify(this.#inventory)).digest("hex"),
      loopLagMs: this.#loopLagMs,
      diskFreeBytes: bavail * bsize,
    });
    if (reply.reregister) return false;
    if (reply.nonce !== nonce) throw new Error("the answer is to another beat");
    this.#renew(sentAtMs, reply.leaseMs);
    this.#handlers.onDesiredVersion(reply.desiredVersion);
    return true;
  }

  #renew(sentAtMs: number, leaseMs: number): void {
    this.#sentAtMs = sentAtMs;
    this.#leaseMs = leaseMs;
    this.#isLost = false;
    const agoNs = BigInt(bootTimeMs() - sentAtMs) * 1_000_000n;
    const deadlineNs = bootTimeNs() - agoNs + BigInt(leaseMs) * 1_000_000n;
    const file = join(this.#leaseDir, "lease");
    writeFileSync(`${file}.part`, `${deadlineNs}\n`, { mode: 0o644 });
    renameSync(`${file}.part`, file);
  }

  async #watchClock(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const from = performance.now();
      await sleep(500, undefined, { signal }).catch(() => undefined);
      this.#loopLagMs = Math.max(0, performance.now() - from - 500);
      if (this.verdict !== "stop-all" || this.#isLost) continue;
      this.#isLost = true;
      this.#log.error("the lease is lost: everything on this node stops");
      this.#handlers.onLost();
    }
  }
}
