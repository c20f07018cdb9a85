import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { shippedProgram } from "@resontech/house/shipped-program";
import { exportLog } from "@resontech/audit/export";
import type { AuditdFixture } from "./auditd-fixture.ts";

/** What the verifier says of the shard that is written, by the appliance's own policy. */
export async function verified(auditd: AuditdFixture): Promise<object> {
  const file = join(auditd.root, "export.tar");
  await exportLog({ logDir: auditd.shardDir(auditd.currentSlug), file });
  const args = [shippedProgram("sov-verify"), file, "--policy", auditd.config.policyFile, "--json"];
  return JSON.parse(spawnSync(process.execPath, args, { encoding: "utf8" }).stdout) as object;
}
