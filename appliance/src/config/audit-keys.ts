/** `etc/audit-keys.json`, root's own: where the keys of log and vault are made and kept. Without it they are plain files. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import type { Tpm } from "@resontech/contracts/tpm";
import type { Layout } from "../layout.ts";

export type AuditKeys = {
  token?: NonNullable<AuditdConfig["token"]>;
  /** Seals the files of both. */
  tpm?: Tpm;
  /** What the token's module reads of the environment: SOFTHSM2_CONF, say. */
  environment?: Record<string, string>;
};

/** Null where there is none; auditd and vault check what stands in it. */
export function readAuditKeys({ etc }: Layout): AuditKeys | null {
  const file = join(etc, "audit-keys.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as AuditKeys) : null;
}
