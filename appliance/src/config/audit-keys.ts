/** `etc/audit-keys.json`, root's own: where the log's keys are made and kept. Without it they are plain files. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Layout } from "../layout.ts";

export type AuditKeys = {
  token?: NonNullable<AuditdConfig["token"]>;
  tpm?: NonNullable<AuditdConfig["tpm"]>;
  /** What the token's module reads of the environment: SOFTHSM2_CONF, say. */
  environment?: Record<string, string>;
};

/** Null where there is none; auditd checks what stands in it. */
export function readAuditKeys({ etc }: Layout): AuditKeys | null {
  const file = join(etc, "audit-keys.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as AuditKeys) : null;
}
