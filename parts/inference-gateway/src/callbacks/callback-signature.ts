/** Pure: by what a receiver knows that an answer came from this deployment. */
import { createHmac, type Hmac } from "node:crypto";
import type { Callback } from "./callback.ts";

type Signed = Pick<Callback, "timestamp" | "id" | "requestId" | "deployment" | "status">;

/** HMAC-SHA256 over five lines and the body, which {@link Hmac} is given next. @param secret hex, taken as text */
export function beginSignature(
  secret: string,
  { timestamp, id, requestId, deployment, status }: Signed,
): Hmac {
  const lines = [timestamp, id, requestId, deployment, status].map((line) => `${line}\n`);
  return createHmac("sha256", secret).update(lines.join(""));
}

export function endSignature(hmac: Hmac): string {
  return `v1=${hmac.digest("hex")}`;
}
