/** Files that are written once and name the appliance: they follow when it has got another name. */
import { existsSync, readFileSync } from "node:fs";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";

/** `data/credentials.txt`: its addresses, and nothing else of it. */
export function followNameInCredentials(
  file: string,
  { name, formerName: former }: ApplianceConfig,
): void {
  if (former === undefined || !existsSync(file)) return;
  const text = readFileSync(file, "utf8");
  const next = text.replaceAll(`https://${former.name}:`, `https://${name}:`);
  if (next !== text) writeOwned(file, next, ROOT, 0o600);
}

/** Tells this host's own agent where the bus is now, in place of what it was told as it joined. */
export function followNameInAgent(layout: Layout, { name, ports }: ApplianceConfig): void {
  const file = layout.data("agent", "nats-url");
  const url = `tls://${name}:${ports.nats}`;
  if (existsSync(file) && readFileSync(file, "utf8") !== url) writeOwned(file, url, ROOT, 0o600);
}
