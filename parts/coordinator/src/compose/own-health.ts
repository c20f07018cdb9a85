import type { AuditProducer } from "@resontech/audit/producer";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { EventLoopLag } from "@resontech/frame/event-loop-lag";
import { DatabaseUnavailable } from "../db/database-unavailable.ts";
import type { KernelParts } from "./build-kernel.ts";
import { stateOfPart } from "../state-of-part.ts";

/** A brake is asked for once a second while it holds. */
const BRAKE_LASTS_MS = 3_000;
/** auditd that has not answered by then is told of by other means. */
const AUDIT_ANSWER_MS = 1_000;

export type OwnHealthParts = Pick<
  KernelParts,
  "clock" | "meta" | "commit" | "fleetViews" | "recordPump"
> & {
  gate: Pick<AuditProducer, "status">;
  isBusUp: () => boolean;
  isAuditConnected: () => boolean;
  isAuditDraining: () => boolean;
  pingStorage: () => Promise<unknown>;
  endingKeys: () => CoordinatorHealth["endingKeys"];
  endingAccounts: () => NonNullable<CoordinatorHealth["endingAccounts"]>;
  orphanedAccounts: () => NonNullable<CoordinatorHealth["orphanedAccounts"]>;
  hasApprover: () => boolean;
  people: () => NonNullable<CoordinatorHealth["people"]>;
  planRecords: () => NonNullable<CoordinatorHealth["planRecords"]>;
  poolStanding: () => NonNullable<CoordinatorHealth["pools"]>;
};

/** What is wrong with the coordinator's surroundings and with itself, noted as it happens, told when it is asked. */
export class OwnHealth implements Disposable {
  readonly #lag = new EventLoopLag();
  #brake: { brake: string; at: number } | null = null;
  #step: { stepMs: number; at: number } | null = null;

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
    const [database, storage, auditLoopLagMs] = await Promise.all([
      tryWrite(parts),
      stateOfPart(() => parts.pingStorage()),
      auditLag(parts),
    ]);
    const isBraked = this.#brake !== null && now - this.#brake.at < BRAKE_LASTS_MS;
    return {
      loopLagMs: this.#lag.maxMs,
      brake: isBraked ? this.#brake!.brake : null,
      plannedStopUntil: plannedUntil > clock.now() ? new Date(plannedUntil).toISOString() : null,
      bus: parts.isBusUp() ? "up" : "down",
      audit: { state: auditState(parts), ...recordPump.backlog(), loopLagMs: auditLoopLagMs },
      ...{ database, storage },
      clockStep:
        this.#step === null
          ? null
          : { stepMs: this.#step.stepMs, agoMs: Math.round(now - this.#step.at) },
      endingKeys: parts.endingKeys(),
      endingAccounts: parts.endingAccounts(),
      orphanedAccounts: parts.orphanedAccounts(),
      hasApprover: parts.hasApprover(),
      people: parts.people(),
      nodes: fleetViews.nodeHealth(),
      pools: parts.poolStanding(),
      planRecords: parts.planRecords(),
    };
  }

  [Symbol.dispose](): void {
    this.#lag[Symbol.dispose]();
  }
}

async function auditLag({ gate }: OwnHealthParts): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const late = setTimeout(() => resolve(null), AUDIT_ANSWER_MS);
  gate.status().then(
    ({ loopLagMs }) => resolve(loopLagMs),
    () => resolve(null),
  );
  return await promise.finally(() => clearTimeout(late));
}

async function tryWrite({
  commit,
  meta,
  clock,
}: OwnHealthParts): Promise<CoordinatorHealth["database"]> {
  try {
    await commit.run(() => meta.set("written-at", clock.now()));
    return "ok";
  } catch (error) {
    return error instanceof DatabaseUnavailable ? error.state : "failing";
  }
}

function auditState({
  recordPump,
  isAuditConnected,
  isAuditDraining,
}: OwnHealthParts): CoordinatorHealth["audit"]["state"] {
  if (recordPump.isHalted) return "halted";
  if (!isAuditConnected()) return "away";
  return isAuditDraining() || recordPump.isDraining() ? "draining" : "ok";
}
