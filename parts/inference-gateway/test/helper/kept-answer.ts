import { randomUUID } from "node:crypto";
import type { Kept } from "../../src/callbacks/callback-spool.ts";

export const SECRET = "5".repeat(64);

export function keptAnswer(url: string, change: Partial<Kept> = {}): Kept {
  return {
    ...{ id: randomUUID(), url, deployment: "job-1", project: "p_1", requestId: "r-1" },
    ...{ status: 200, contentType: "application/json", timestamp: 1_796_000_000, ...change },
  };
}
