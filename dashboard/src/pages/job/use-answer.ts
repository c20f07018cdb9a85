/** What the routes of use answer: curves of members, nodes and the fleet, at equal steps of time. */
import { askPath } from "../../api/ask.ts";
import type { Unit } from "../../ui/chart/units.ts";

export type UseMeasure =
  | "cpu"
  | "memory"
  | "memory_limit"
  | "disk_read"
  | "disk_write"
  | "network_in"
  | "network_out"
  | "device_use"
  | "device_memory"
  | "device_power";

export type UseSeries = {
  measure: UseMeasure;
  unit: Exclude<Unit, "number">;
  of: {
    member?: string;
    site?: string;
    attempt?: number;
    node?: string;
    worker?: string;
    disk?: string;
  };
  values: readonly (number | null)[];
};

export type UseAnswer = {
  fromS: number;
  toS: number;
  stepS: number;
  /** How long such curves are there. */
  keptDays: number;
  series: readonly UseSeries[];
};

const POINTS = 500;

/** @param of `/api/jobs/{id}`, `/api/nodes/{id}`, or `/api` of the whole fleet @throws Problem */
export async function askUse(
  of: "/api/jobs/{id}" | "/api/nodes/{id}" | "/api",
  { id, span, signal }: { id?: string; span?: { from: number; to: number }; signal: AbortSignal },
): Promise<UseAnswer> {
  const answer = await askPath(`${of}/use`, {
    ...(id === undefined ? {} : { params: { id } }),
    query: span === undefined ? {} : { ...rounded(span), points: POINTS },
    signal,
  });
  return answer as UseAnswer;
}

function rounded({ from, to }: { from: number; to: number }): { from: number; to: number } {
  return { from: Math.floor(from), to: Math.ceil(to) };
}
