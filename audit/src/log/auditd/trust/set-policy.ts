import { hash } from "node:crypto";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { replaceFile, type WithRoom } from "@resontech/daemon/durable-file";
import { AUDITD } from "../decisions/ledger.ts";
import { logLinesViolation } from "../decisions/policy-change.ts";
import { type Policy, PolicyError } from "../../format/note/policy.ts";
import { ControlRefused } from "../ports/control-port.ts";
import type { OpenShard } from "../shard/open-shard.ts";
import { parseTrustPolicy, type TrustPolicy } from "./trust-policy.ts";

/**
 * Other witnesses, another quorum. Asked for on record, written, then its outcome: witnesses are believed by the file alone.
 * @param approvers two people
 * @throws ControlRefused for what is no policy, or one of another log
 */
export async function setPolicy(
  shard: OpenShard,
  { config, trust, withRoom }: { config: AuditdConfig; trust: TrustPolicy; withRoom: WithRoom },
  bytes: Buffer,
  approvers: [string, string],
): Promise<void> {
  const { policyFile, originPrefix } = config;
  const { logs } = await trust.current();
  const policy = parsed(bytes);
  const violation = logLinesViolation(logs, policy.logs, originPrefix);
  if (violation !== null || policy.logs.length !== logs.length)
    throw new ControlRefused(
      "policy_of_other_log",
      violation ?? "a log line was added: keys of shards are auditd's to list",
    );
  const about = {
    ...({
      type: "audit.policy",
      op: crypto.randomUUID(),
      object: { kind: "log", id: AUDITD },
    } as const),
    detail: { policy_sha256: hash("sha256", bytes), witnesses: policy.witnesses.length, approvers },
  };
  const { index } = await shard.auditLog.record({ ...about, phase: "requested" });
  // Never refused for want of a witness: two people change the policy when its witness is no more.
  const { needsWitness, witnessed } = await shard.witnessed(index);
  const outcome = {
    code: "ok",
    ...(needsWitness && !witnessed ? { unwitnessed: true as const } : {}),
  };
  try {
    await withRoom(() => replaceFile(policyFile, bytes, 0o444));
  } catch (error) {
    await shard.auditLog.record({
      ...about,
      phase: "failed",
      outcome: { code: "policy_not_written" },
    });
    throw error;
  }
  await shard.auditLog.record({ ...about, phase: "completed", outcome });
}

function parsed(bytes: Buffer): Policy {
  try {
    return parseTrustPolicy(bytes);
  } catch (error) {
    if (error instanceof PolicyError) throw new ControlRefused(error.code, error.message);
    throw error;
  }
}
