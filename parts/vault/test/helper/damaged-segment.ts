import { readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditProducer } from "@resontech/audit/producer";
import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import type { VaultFixture } from "./vault-fixture.ts";
import { say } from "./say.ts";

/** Nothing behind it is taken over, so an erasure that is asked for stays under way. @returns puts it out of the way, of an auditd that is started anew */
export async function damagedSegment(
  auditd: AuditdFixture,
  vault: VaultFixture,
  gate: AuditProducer,
): Promise<() => Promise<void>> {
  await vault.stop();
  await say(gate, "usr-1", "10.0.0.2");
  const folder = join(auditd.logDir, "disclosures");
  const [segment = ""] = readdirSync(folder);
  const file = join(folder, segment);
  writeFileSync(file, readFileSync(file, "utf8").replace("10.0.0.2", "10.0.0.3"));
  return async () => {
    await auditd.stop();
    renameSync(file, join(auditd.root, "aside"));
    await auditd.start();
  };
}
