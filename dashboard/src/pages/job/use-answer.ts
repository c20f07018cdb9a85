/** Asks for curves of use: of a job, of a node and of the whole fleet. */
import type { UseReply } from "@resontech/contracts/http-use";
import { askPath } from "../../api/ask.ts";

const POINTS = 500;

/** @param span Unix milliseconds; absent: what the route takes by itself @throws Problem */
export async function askUse(
  of: "/api/jobs/{id}" | "/api/nodes/{id}" | "/api",
  { id, span, signal }: { id?: string; span?: { from: number; to: number }; signal: AbortSignal },
): Promise<UseReply> {
  const query =
    span === undefined
      ? {}
      : { from: Math.floor(span.from), to: Math.ceil(span.to), points: POINTS };
  const params = id === undefined ? {} : { params: { id } };
  return (await askPath(`${of}/use`, { ...params, query, signal })) as UseReply;
}
