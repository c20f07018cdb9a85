import { hash } from "node:crypto";
import type { ApprovalProof } from "@resontech/contracts/approval-proof";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { replaceFile, type WithRoom } from "@resontech/frame/durable-file";
import { type Approved, evaluateApproval } from "@resontech/audit/approvals/evaluate-approval";
import { AUDITD } from "../decisions/ledger.ts";
import { logLinesViolation } from "../decisions/policy-change.ts";
import { begun, done, isUsed } from "../decisions/used-approvals.ts";
import { type Policy, PolicyError } from "@resontech/audit/format/note/policy";
import { ControlRefused } from "../ports/control-port.ts";
import type { OpenShard } from "./open-shard.ts";
import { parseTrustPolicy, type TrustPolicy } from "../trust/trust-policy.ts";
import { readUsedApprovals, writeUsedApprovals } from "../trust/used-approvals-file.ts";

/**
 * Other witnesses, another quorum. Asked for on record, written, then its outcome: witnesses are believed by the file alone.
 * @param proof of two people who agreed to this very policy; it counts once
 * @throws ControlRefused for what is no policy, one of another log, or nobody's word
 */
export async function setPolicy(
  shard: OpenShard,
  { config, trust, withRoom }: { config: AuditdConfig; trust: TrustPolicy; withRoom: WithRoom },
  bytes: Buffer,
  proof: ApprovalProof,
): Promise<void> {
  const { policyFile, originPrefix, keysDir } = config;
  const { logs } = await trust.current();
  const policy = parsed(bytes);
  const violation = logLinesViolation(logs, policy.logs, originPrefix);
  if (violation !== null || policy.logs.length !== logs.length)
    throw new ControlRefused(
      "policy_of_other_log",
      violation ?? "a log line was added: keys of shards are auditd's to list",
    );
  const approved = await agreed(config, bytes, proof);
  const used = await readUsedApprovals(keysDir);
  if (isUsed(used, approved.approval))
    throw new ControlRefused(
      "approval_used",
      "the approval changed the policy once: ask for a new one",
    );
  const about = {
    ...({
      type: "audit.policy",
      op: crypto.randomUUID(),
      object: { kind: "log", id: AUDITD },
    } as const),
    detail: {
      ...{ policy_sha256: hash("sha256", bytes), witnesses: policy.witnesses.length },
      ...{ approval: approved.approval, requester: approved.requester },
      ...{ approvers: approved.approvers, signatures: approved.signatures },
      single_person: approved.singlePerson,
    },
  };
  const { index } = await shard.auditLog.record({ ...about, phase: "requested" });
  // Never refused for want of a witness: two people change the policy when its witness is no more.
  const { needsWitness, witnessed } = await shard.witnessed(index);
  const outcome = {
    code: "ok",
    ...(needsWitness && !witnessed ? { unwitnessed: true as const } : {}),
  };
  try {
    const now = begun(used, approved.approval, Date.now());
    await writeUsedApprovals(keysDir, now, withRoom);
    await withRoom(() => replaceFile(policyFile, bytes, 0o444));
    await writeUsedApprovals(keysDir, done(now, approved.approval), withRoom);
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

/** @throws ControlRefused */
async function agreed(
  { stepUpKeysFile }: AuditdConfig,
  bytes: Buffer,
  proof: ApprovalProof,
): Promise<Approved> {
  const act = {
    what: { kind: "audit-policy", policy: bytes.toString("utf8") },
    ...{ requesterRoles: ["platform-admin"], approverRoles: ["security-officer"] },
  };
  const judged = await evaluateApproval(stepUpKeysFile, proof, act, Date.now());
  if ("code" in judged) throw new ControlRefused(judged.code, judged.message);
  return judged;
}

function parsed(bytes: Buffer): Policy {
  try {
    return parseTrustPolicy(bytes);
  } catch (error) {
    if (error instanceof PolicyError) throw new ControlRefused(error.code, error.message);
    throw error;
  }
}
