import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { readLeaves } from "@resontech/audit/testing/read-leaves";

/** Of each operation of this type what the log says of it, in order. */
export async function phasesOf(auditd: AuditdFixture, type: string): Promise<string[]> {
  const leaves = (await readLeaves(auditd.logDir)).filter((leaf) => leaf.type === type);
  const ops = Map.groupBy(leaves, ({ op }) => op);
  return [...ops.values()].map((all) =>
    all.map(({ phase, outcome }) => [phase, outcome?.code].join(" ").trim()).join(", "),
  );
}

/** The vault is at rest before what it says last is in the log: whoever looks for that waits for it. */
export const isSaidSo = (auditd: AuditdFixture, type: string, wanted: string) => async () =>
  (await phasesOf(auditd, type)).join("; ") === wanted;
