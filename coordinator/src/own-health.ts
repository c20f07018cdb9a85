import { monitorEventLoopDelay } from "node:perf_hooks";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { DatabaseUnavailable } from "./db/database-unavailable.ts";
import type { KernelParts } from "./kernel/build-kernel.ts";
import { stateOfPart } from "./state-of-part.ts";

const RESOLUTION_MS = 10;
const WINDOW_MS = 60_000;
/** A brake is asked for once a second while it holds. */
const BRAKE_LASTS_MS = 3_000;
const NS_PER_MS = 1e6;

export type OwnHealthParts = Pick<KernelParts, "clock" | "meta" | "commit" | "fleetViews" | "recordPump"> & {
  isBusUp: () => boolean;
  isAuditConnected: () => boolean;
  isAuditDraining: () => boolean;
  pingStorage: () => Promise<unknown>;
};

/** What is wrong with the coordinator's surroundings and with itself, noted as it happens, told when it is asked. */
export class OwnHealth implements Disposable {
  readonly #loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #window: NodeJS.Timeout;
  #formerMaxMs = 0;
  #brake: { brake: string; at: number } | null = null;
  #step: { stepMs: number; at: number } | null = null;

  constructor() {
    this.#loop.enable();
    this.#window = setInterval(() => {
      this.#formerMaxMs = this.#maxMs();
      this.#loop.reset();
    }, WINDOW_MS);
    this.#window.unref();
  }

  noteBrake(brake: string): void {
    this.#brake = { brake, at: performance.now() };
  }

  noteClockStep(stepMs: number): void {
    this.#step = { stepMs, at: performance.now() };
  }

  async tell(parts: OwnHealthParts): Promise<CoordinatorHealth> {
    const { clock, meta, fleetViews, recordPump } = parts;
    const now = performance.now();
    const plannedUntil = meta.number("maintenance-until");
    const isBraked = this.#brake !== null && now - this.#brake.at < BRAKE_LASTS_MS;
    return {
      loopLagMs: Math.round(Math.max(this.#formerMaxMs, this.#maxMs())),
      brake: isBraked ? this.#brake!.brake : null,
      plannedStopUntil: plannedUntil > clock.now() ? new Date(plannedUntil).toISOString() : null,
      bus: parts.isBusUp() ? "up" : "down",
      audit: { state: auditState(parts), ...recordPump.backlog() },
      database: await tryWrite(parts),
      storage: await stateOfPart(() => parts.pingStorage()),
      clockStep: this.#step === null ? null : { stepMs: this.#step.stepMs, agoMs: Math.round(now - this.#step.at) },
      nodes: fleetViews.nodeHealth(),
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#window);
    this.#loop.disable();
  }

  /** The histogram holds the whole interval between two turns. */
  #maxMs(): number {
    return this.#loop.count === 0 ? 0 : Math.max(0, this.#loop.max / NS_PER_MS - RESOLUTION_MS);
  }
}

async function tryWrite({ commit, meta, clock }: OwnHealthParts): Promise<CoordinatorHealth["database"]> {
  try {
    await commit.run(() => meta.set("written-at", clock.now()));
    return "ok";
  } catch (error) {
    return error instanceof DatabaseUnavailable ? error.state : "failing";
  }
}

function auditState({ recordPump, isAuditConnected, isAuditDraining }: OwnHealthParts): CoordinatorHealth["audit"]["state"] {
  if (recordPump.isHalted) return "halted";
  if (!isAuditConnected()) return "away";
  return isAuditDraining() || recordPump.isDraining() ? "draining" : "ok";
}
