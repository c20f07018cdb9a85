import { join } from "node:path";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import type { Test } from "tap";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import { until } from "@resontech/audit/testing/until";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { VaultFixture } from "./vault-fixture.ts";

/** auditd that knows the vault, not started. */
export function auditdFor(root: string): AuditdFixture {
  const names = ["coordinator-gate", "vault"];
  const producers = names.map((name) => ({
    name,
    family: name,
    socket: join(root, "run", `${name}.sock`),
    gid: null,
  }));
  return new AuditdFixture(root, { producers, learnMs: 0, heartbeatMs: 200 });
}

export async function startedBoth(
  t: Test,
  changes: Partial<VaultConfig> = {},
): Promise<[AuditdFixture, VaultFixture]> {
  const root = temporaryFolder(t);
  const auditd = auditdFor(root);
  await auditd.makeLog();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  const vault = new VaultFixture(root, changes);
  t.teardown(() => vault.stop("SIGKILL"));
  await vault.start();
  await until(async () => (await vault.status()).connected);
  return [auditd, vault];
}

export function gateOf(auditd: AuditdFixture): Promise<AuditProducer> {
  return connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: crypto.randomUUID(),
  });
}
