/** Pure: whether a key is one of a deployment. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Route } from "@resontech/contracts/inference-routes";

/** In a time that tells nothing about the key. */
export function mayCall(route: Route | null, key: string | null): boolean {
  const shown = createHash("sha256")
    .update(key ?? "")
    .digest();
  const good = Buffer.from(route?.keySha256 ?? "0".repeat(64), "hex");
  return timingSafeEqual(shown, good) && route !== null && key !== null;
}
