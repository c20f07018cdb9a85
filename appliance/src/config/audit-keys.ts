/** `etc/audit-keys.json`, root's own: in which token the log's keys are made and kept. Without it they are files. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Layout } from "../layout.ts";

export type AuditKeys = {
  token: NonNullable<AuditdConfig["token"]>;
  /** What the token's module reads of the environment: SOFTHSM2_CONF, say. */
  environment?: Record<string, string>;
};

/** Null where there is none; auditd checks what stands in it. */
export function readAuditKeys({ etc }: Layout): AuditKeys | null {
  const file = join(etc, "audit-keys.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as AuditKeys) : null;
}
