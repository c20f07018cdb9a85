/** Which parts are on a host, and whom they await there. Pure. */
import type { PartDeclaration } from "@resontech/frame/define-part";
import type { JobHost } from "@resontech/frame/job-host";
import type { Part } from "./part.ts";

export function isOnHost(part: PartDeclaration, host: JobHost): boolean {
  if (!("hosts" in part)) return host.kind === "appliance";
  return part.hosts.includes(host.kind) && part.isOn?.(host) !== false;
}

/** Nobody waits for what is not there. */
export function awaitingOneAnother(parts: readonly Part[]): Part[] {
  const names = new Set(parts.map(({ name }) => name));
  return parts.map((part) => ({ ...part, after: part.after.filter((name) => names.has(name)) }));
}
