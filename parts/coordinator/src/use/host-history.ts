import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { DiskForecastReply, PastAlertsReply } from "@resontech/contracts/http-host-history";
import { KEPT_DAYS } from "@resontech/prometheus/kept-figures";
import { forecastDisk, type FreePoint } from "./decisions/disk-forecast.ts";
import { pastAlerts } from "./decisions/past-alerts.ts";
import { timeAxis } from "./decisions/time-axis.ts";
import type { PrometheusReader } from "./prometheus-reader.ts";

const DAY_MS = 86_400_000;
/** A week has its nights and its end. */
const FORECAST_FROM_MS = 7 * DAY_MS;
const POINTS = 500;
/** Prometheus gives 11,000 at most; each stands for all looks since the one before it, so no alert is missed. */
const ALERT_POINTS = 8_000;

/** What became of the host over time, as the appliance's Prometheus has it. */
export class HostHistory {
  readonly #prometheus: Pick<PrometheusReader, "range">;
  readonly #facts: () => ApplianceFacts | null;
  readonly #now: () => number;

  constructor(
    prometheus: Pick<PrometheusReader, "range">,
    facts: () => ApplianceFacts | null,
    now: () => number,
  ) {
    this.#prometheus = prometheus;
    this.#facts = facts;
    this.#now = now;
  }

  /** Of each disk of the host, when it fills if it goes on as in the last week. @throws ApiError figures_away */
  async disks(): Promise<DiskForecastReply> {
    const now = this.#now();
    const axis = timeAxis(now - FORECAST_FROM_MS, now, POINTS);
    const told = await this.#prometheus.range("resontech_disk_free_bytes", axis);
    const points = new Map(
      told.map(({ metric, values }) => [
        metric["holds"] ?? "",
        values
          .map(([second, text]): FreePoint => [second, Number(text)])
          .filter(([, free]) => Number.isFinite(free)),
      ]),
    );
    return {
      disks: (this.#facts()?.disks ?? []).map((disk) => {
        const past = points.get(disk.holds) ?? [];
        const { fillsAtMs, ...seen } = forecastDisk(past, disk.refusesBelowBytes ?? 0);
        const fillsAt = fillsAtMs === null ? null : new Date(fillsAtMs).toISOString();
        return { holds: disk.holds, ...seen, fillsAt };
      }),
    };
  }

  /** Alerts of all the days that are kept. @throws ApiError figures_away */
  async alerts(): Promise<PastAlertsReply> {
    const now = this.#now();
    const axis = timeAxis(now - KEPT_DAYS * DAY_MS, now, ALERT_POINTS);
    const query = `max_over_time(ALERTS{alertstate="firing"}[${axis.stepS}s])`;
    const told = await this.#prometheus.range(query, axis);
    return { keptDays: KEPT_DAYS, withinS: axis.stepS, alerts: pastAlerts(told, axis) };
  }
}
