/** Pure: whose key a call shows, and which deployments it opens. */
import { hash, timingSafeEqual } from "node:crypto";
import type { CallerKey, Route } from "@resontech/contracts/inference-routes";

/** What was shown: a platform key that is good now, or what may be a deployment's own. */
export type ShownKey = { sha256: string; platform: CallerKey | null };

/** @param keys platform keys by their digest, hex */
export function shownKey(
  key: string | null,
  keys: ReadonlyMap<string, CallerKey>,
  now: number,
): ShownKey | null {
  if (key === null) return null;
  const sha256 = hash("sha256", key);
  const platform = keys.get(sha256) ?? null;
  return { sha256, platform: platform === null || platform.expiresAt <= now ? null : platform };
}

/** A deployment's own key opens that one; a platform key those of its project, and every PUBLIC one. In a time that tells nothing about the key. */
export function mayCall(route: Route | null, shown: ShownKey | null): boolean {
  const own = Buffer.from(route?.keySha256 ?? "0".repeat(64), "hex");
  const isOwn = timingSafeEqual(Buffer.from(shown?.sha256 ?? "f".repeat(64), "hex"), own);
  if (route === null || shown === null) return false;
  if (isOwn) return true;
  const { platform } = shown;
  return platform !== null && (route.visibility === "PUBLIC" || route.project === platform.project);
}
