import { existsSync, readFileSync } from "node:fs";
import { AUDIT_KEYS_FILE, type AuditKeys, auditKeysIn } from "@resontech/contracts/audit-keys";
import type { Layout } from "@resontech/frame/layout";

/** Reads the file of keys; null where there is none. Auditd and vault check what stands in it. */
export function readAuditKeys(layout: Layout): AuditKeys | null {
  const file = layout.setting(AUDIT_KEYS_FILE);
  return auditKeysIn(existsSync(file) ? readFileSync(file, "utf8") : null);
}
