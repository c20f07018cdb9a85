import type { ReadyReply } from "@resontech/contracts/http-identity";

const DEADLINE_MS = 2_000;

/** A part that does not answer within the deadline is unavailable. */
export async function stateOfPart(
  check: () => Promise<unknown>,
): Promise<ReadyReply["parts"][string]> {
  const late = Promise.withResolvers<"unavailable">();
  const timer = setTimeout(() => late.resolve("unavailable"), DEADLINE_MS);
  try {
    return await Promise.race([check().then(() => "ok" as const), late.promise]);
  } catch {
    return "unavailable";
  } finally {
    clearTimeout(timer);
  }
}
