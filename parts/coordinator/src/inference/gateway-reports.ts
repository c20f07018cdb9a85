/** What the gateways last said of the calls that they have, put together. More than one is there while one takes over from another. */
import {
  type CallReport,
  REPORT_LIFE_MS,
  type WokenCall,
} from "@resontech/contracts/inference-routes";
import type { Load } from "./decisions/deployment.ts";

type Heard = { at: number; report: CallReport | null };

export class GatewayReports<Connection> {
  readonly #heard = new Map<Connection, Heard>();

  join(connection: Connection, now: number): void {
    this.#heard.set(connection, { at: now, report: null });
  }

  leave(connection: Connection): void {
    this.#heard.delete(connection);
  }

  take(connection: Connection, report: CallReport, now: number): void {
    if (this.#heard.has(connection)) this.#heard.set(connection, { at: now, report });
  }

  /** Null where no gateway is there, or one of them has said nothing yet or for long: then nobody knows what is under way. */
  of(deployment: string, now: number): Load | null {
    const all = [...this.#heard.values()];
    const isSilent = ({ at, report }: Heard) => report === null || now - at >= REPORT_LIFE_MS;
    if (all.length === 0 || all.some(isSilent)) return null;
    const load = { generation: Number.MAX_SAFE_INTEGER, queued: 0 };
    const inFlight: Record<string, number> = {};
    const woken: WokenCall[] = [];
    let lastCompletionAt: number | null = null;
    for (const { at, report } of all) {
      const counts = report?.deployments.find((one) => one.deployment === deployment);
      // One that has not heard of the deployment follows nothing.
      load.generation = Math.min(load.generation, counts?.generation ?? 0);
      if (counts === undefined) continue;
      load.queued += counts.queued;
      if (counts.woken !== undefined) woken.push(counts.woken);
      for (const { member, calls } of counts.inFlight)
        inFlight[member] = (inFlight[member] ?? 0) + calls;
      if (counts.idleMs !== null)
        lastCompletionAt = Math.max(lastCompletionAt ?? 0, at - counts.idleMs);
    }
    return { ...load, inFlight, lastCompletionAt, ...(woken.length === 0 ? {} : { woken }) };
  }
}
