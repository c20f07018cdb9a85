import type { PartStatus } from "../supervisor.ts";

/** How long a part has been healthy, milliseconds; null while it is not. */
export function healthyForMs(parts: readonly PartStatus[], name: string): number | null {
  const part = parts.find((one) => one.name === name);
  return part?.phase === "healthy" ? part.sinceMs : null;
}
