/**
 * Registers, beats, and counts the lease. Invariant: the lease file never says more than what the coordinator granted, counted from the
 * moment the request that it answered was sent.
 */
import { randomUUID } from "node:crypto";
import { statfsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  AGENT_PROTOCOL,
  type BeatRequest,
  type BridgeAddress,
  type DeviceUse,
  type Inventory,
  type RegisterRequest,
  type UpgradeFailure,
  type UpgradeRequest,
} from "@resontech/contracts/agent-protocol";
import { PROTOCOL_UNSUPPORTED, versionsOf } from "@resontech/contracts/protocol-versions";
import { EventLoopLag } from "@resontech/frame/event-loop-lag";
import type { Logger } from "pino";
import { type BootClock, toMs } from "../boot-clock.ts";
import type { CoordinatorClient } from "../bus/coordinator-client.ts";
import { RefusedError } from "../bus/refused-error.ts";
import {
  grantLease,
  evaluateLease,
  type Lease,
  type LeaseVerdict,
  nextBeatMs,
} from "../decisions/lease.ts";
import { inventoryDigest } from "../probes/inventory.ts";
import { AGENT_VERSION } from "../version.ts";
import { Wake } from "../wake.ts";
import type { LeaseFile } from "./lease-file.ts";

const DEFAULT_BEAT_MS = 5_000;
const RETRY_MS = 1_000;
/** Of another release than the coordinator can work with: somebody must upgrade one of the two. */
const NO_COMMON_PROTOCOL_RETRY_MS = 15_000;
const WATCH_MS = 250;

export type LeaseParts = {
  coordinator: Pick<CoordinatorClient, "register" | "beat">;
  file: LeaseFile;
  dataDir: string;
  bootId: string;
  clock: BootClock;
  inventory: () => Inventory;
  /** Where the agents of other nodes reach this one's; absent when they can't. */
  bridge?: BridgeAddress | undefined;
  held: () => RegisterRequest["held"];
  /** Registered anew, under this version of the protocol: whatever is desired must be fetched. */
  onRegistered: (protocol: number) => void;
  /** What the coordinator's desired set is now at. */
  onDesiredVersion: (version: number) => void;
  /** What the node's devices do. */
  deviceUses?: () => DeviceUse[];
  /** What members and node use. */
  uses?: (held: BeatRequest["held"]) => Pick<BeatRequest, "members" | "node">;
  /** Of who vouches for the doors here. */
  trusts?: () => string;
  /** Others vouch for the doors than the coordinator was told. */
  onDoorAuthorities?: (pem: string) => void;
  /** What runs here, and how the last order to bring another release failed; absent where the node can't bring one. */
  release?: string | undefined;
  upgradeFailed?: () => UpgradeFailure | undefined;
  /** The node is to bring this release: with each beat until its order has ended. */
  onUpgrade?: (wish: UpgradeRequest) => void;
  /** How often an operator has said that the node is well. */
  onUndrains?: (times: number) => void;
  /** No beat was answered for a whole lease: nothing may go on. Once for each loss. */
  onLost: () => void;
  log: Logger;
};

export class LeaseKeeper {
  readonly #parts: LeaseParts;
  #lease: Lease;
  #beatMs = DEFAULT_BEAT_MS;
  #isRegistered = false;
  #toldDigest = "";
  /** Agreed on with the last registration. */
  #protocol: number = AGENT_PROTOCOL.min;
  #isLost = false;
  /** The beat whose answer gave it; null for the registration's. */
  #leaseOf: string | null = null;
  readonly #loopLag = new EventLoopLag();
  readonly #wake = new Wake();

  constructor(parts: LeaseParts) {
    this.#parts = parts;
    // What a former process was granted still counts against us, never for us.
    this.#lease = { sentAtMs: null, endsAtMs: parts.file.read() };
  }

  get verdict(): LeaseVerdict {
    return evaluateLease(this.#lease, toMs(this.#parts.clock()));
  }

  async run(signal: AbortSignal): Promise<void> {
    using _measured = this.#loopLag;
    await Promise.all([this.#watchClock(signal), this.#beatForEver(signal)]);
  }

  /** A longer lease is to be had: it beats now, not when the next beat is due. */
  beatSoon(): void {
    this.#wake.now();
  }

  /** There is something to tell that only a registration tells. */
  registerSoon(): void {
    this.#isRegistered = false;
    this.#wake.now();
  }

  async #beatForEver(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = RETRY_MS;
      try {
        await (this.#isRegistered ? this.#beat() : this.#register());
        waitMs = this.#isRegistered ? nextBeatMs(this.#beatMs, Math.random()) : 0;
      } catch (error) {
        if (error instanceof RefusedError && error.code === "stale_epoch")
          this.#isRegistered = false;
        if (error instanceof RefusedError && error.code === PROTOCOL_UNSUPPORTED)
          waitMs = NO_COMMON_PROTOCOL_RETRY_MS;
        if (!signal.aborted)
          this.#parts.log.warn(
            { err: error },
            this.#isRegistered ? "a beat was not answered" : "not registered",
          );
      }
      await this.#wake.within(waitMs, signal);
    }
  }

  async #register(): Promise<void> {
    const { coordinator, clock, bootId, inventory, bridge, held, onRegistered, log } = this.#parts;
    const told = inventory();
    const { release } = this.#parts;
    const upgradeFailed = this.#parts.upgradeFailed?.();
    const sentAtMs = toMs(clock());
    const { nodeEpoch, leaseMs, beatIntervalMs, protocol } = await coordinator.register({
      protocol: versionsOf(AGENT_PROTOCOL),
      bootId,
      agentVersion: AGENT_VERSION,
      inventory: told,
      ...(bridge === undefined ? {} : { bridge }),
      held: held(),
      ...(release === undefined ? {} : { release }),
      ...(upgradeFailed === undefined ? {} : { upgradeFailed }),
    });
    this.#toldDigest = inventoryDigest(told);
    this.#beatMs = beatIntervalMs;
    this.#protocol = protocol ?? AGENT_PROTOCOL.min;
    this.#isRegistered = true;
    this.#renew(sentAtMs, leaseMs, null);
    log.info({ nodeEpoch, protocol: this.#protocol }, "registered");
    onRegistered(this.#protocol);
  }

  async #beat(): Promise<void> {
    const { coordinator, clock, bootId, dataDir, inventory, onDesiredVersion } = this.#parts;
    const { bavail, bsize } = statfsSync(dataDir);
    const nonce = randomUUID();
    const digest = inventoryDigest(inventory());
    const held = this.#parts.held();
    const devices = this.#parts.deviceUses?.() ?? [];
    const trusts = this.#parts.trusts?.();
    // A coordinator of the first version refuses fields that it does not know.
    const isFirst = this.#protocol === AGENT_PROTOCOL.min;
    const uses = isFirst ? {} : this.#parts.uses?.(held);
    const sentAtMs = toMs(clock());
    const reply = await coordinator.beat({
      nonce,
      leaseOf: this.#leaseOf,
      bootId,
      held,
      inventoryDigest: digest,
      loopLagMs: this.#loopLag.maxMs,
      diskFreeBytes: bavail * bsize,
      ...(devices.length === 0 || isFirst ? {} : { devices }),
      ...(trusts === undefined || isFirst ? {} : { trusts }),
      ...uses,
    });
    if (reply.nonce !== nonce) throw new Error("the answer is to another beat");
    // It is asked to introduce itself again, and is heard nevertheless.
    // What changed before the first beat is known to nobody but us: the coordinator takes that beat's inventory for the one it was told.
    if (reply.reregister || digest !== this.#toldDigest) this.#isRegistered = false;
    this.#renew(sentAtMs, reply.leaseMs, nonce);
    onDesiredVersion(reply.desiredVersion);
    if (reply.doorAuthorities !== undefined) this.#parts.onDoorAuthorities?.(reply.doorAuthorities);
    if (reply.upgrade !== undefined) this.#parts.onUpgrade?.(reply.upgrade);
    if (reply.undrains !== undefined) this.#parts.onUndrains?.(reply.undrains);
  }

  #renew(sentAtMs: number, leaseMs: number, leaseOf: string | null): void {
    this.#leaseOf = leaseOf;
    this.#lease = grantLease(sentAtMs, leaseMs);
    this.#isLost = false;
    this.#parts.file.write(sentAtMs + leaseMs);
  }

  async #watchClock(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(WATCH_MS, undefined, { signal }).catch(() => undefined);
      if (this.verdict !== "stop-all" || this.#isLost) continue;
      this.#isLost = true;
      this.#parts.log.error("the lease is lost: everything on this node stops");
      this.#parts.onLost();
    }
  }
}
