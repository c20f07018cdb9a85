/** What `GET /metrics` of an installed appliance tells of the stages of its submissions. */
import { readFileSync } from "node:fs";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";

/** Seconds of each stage, all submissions so far together, and how many these were. */
export type StageSums = ReadonlyMap<string, { seconds: number; count: number }>;

const LINE = /^resontech_submission_stage_seconds_(sum|count)\{stage="([a-z]+)"\} (\S+)$/gm;

export async function readStageSums(appliance: LocalAppliance): Promise<StageSums> {
  const { RESON_BASE_URL: base = "", SSL_CERT_FILE: root = "" } = appliance.quickstart();
  const token = (await appliance.command(["metrics", "token"])).trim();
  const reply = await fetchWithCa(readFileSync(root, "utf8"), new URL("/metrics", base).href, {
    method: "GET",
    headers: { authorization: `Bearer ${token}` },
  });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`/metrics was answered ${reply.status}: ${text}`);
  const sums = new Map<string, { seconds: number; count: number }>();
  for (const [, what, stage = "", value] of text.matchAll(LINE)) {
    const sum = sums.get(stage) ?? { seconds: 0, count: 0 };
    sums.set(stage, { ...sum, [what === "sum" ? "seconds" : "count"]: Number(value) });
  }
  return sums;
}

/** @returns the mean of each stage between two looks, in milliseconds */
export function meansBetween(before: StageSums, after: StageSums): Record<string, number> {
  const means: Record<string, number> = {};
  for (const [stage, { seconds, count }] of after) {
    const earlier = before.get(stage) ?? { seconds: 0, count: 0 };
    if (count > earlier.count)
      means[stage] = ((seconds - earlier.seconds) * 1_000) / (count - earlier.count);
  }
  return means;
}
