/** Commands of the operator, given to a running appliance without harm: how each ended, and what it must leave in the log. */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import type { ApprovalProof } from "@resontech/contracts/approval-proof";
import { OFFICER, StepUpPeople } from "@resontech/audit/testing/step-up-people";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ApplianceLog } from "@resontech/house/appliance-log";

const SEEN_WITHIN_MS = 30_000;
const APPROVERS = ["ann", "bob"];
const REQUESTER = ["--requester", "dpo"];
const TWO = APPROVERS.flatMap((one) => ["--approver", one]);

type Leaf = {
  type: AuditEvent["type"];
  phase: AuditEvent["phase"];
  detail?: Record<string, unknown>;
  code?: string;
};
type Given = {
  command: readonly string[];
  /** @default 0 */
  exit?: number;
  /** What it must say. */
  says?: string;
  leaves?: readonly Leaf[];
};

export type Commands = {
  driven: number;
  /** Leaves that were wanted and found. */
  found: number;
  /** Leaves that were wanted and not found; must be empty. */
  missing: string[];
  /** Ended or said otherwise than it should; must be empty. */
  otherwise: string[];
  /** Refused, and nothing in the log is wanted that tells of it; must be empty. */
  refusedUnrecorded: string[];
};

export async function commandsRecorded(
  appliance: LocalAppliance,
  log: ApplianceLog,
  folder: string,
  progress: (line: string) => void,
): Promise<Commands> {
  const operator = await Operator.of(appliance, log);
  progress("commands of the operator: parts, users, images");
  const subject = await partsUsersImages(operator);
  progress("commands of the operator: the log");
  await theLog(operator, folder);
  progress("commands of the operator: personal values");
  await personalValues(operator, folder, subject);
  return operator.result;
}

/** Gives commands, and looks after each at what it has left in the log. */
class Operator {
  readonly appliance: LocalAppliance;
  readonly result: Commands = {
    driven: 0,
    found: 0,
    missing: [],
    otherwise: [],
    refusedUnrecorded: [],
  };
  readonly #log: ApplianceLog;
  #size = 0;

  private constructor(appliance: LocalAppliance, log: ApplianceLog) {
    this.appliance = appliance;
    this.#log = log;
  }

  static async of(appliance: LocalAppliance, log: ApplianceLog): Promise<Operator> {
    const operator = new Operator(appliance, log);
    const before = await log.since(0);
    operator.#size = before.length;
    operator.#look("install", [{ type: "admin.install", phase: "completed" }], before);
    return operator;
  }

  /** @returns what it printed */
  async give({ command, exit = 0, says = "", leaves = [] }: Given): Promise<string> {
    const { root } = this.appliance;
    const bin = join(root, "current", "bin", "appliance");
    const { status, stdout, stderr } = spawnSync(bin, ["--root", root, ...command], {
      encoding: "utf8",
    });
    const name = command.join(" ").replaceAll(root, "…");
    this.result.driven += 1;
    this.demand(
      status === exit && `${stdout}${stderr}`.includes(says),
      `${name}: ${status} ${stderr.slice(-300)}`,
    );
    const left = await this.#log.since(this.#size);
    this.#size += left.length;
    this.#look(name, leaves, left);
    if (status === 1 && leaves.length === 0) this.result.refusedUnrecorded.push(`${name}: ${says}`);
    return stdout;
  }

  /** The same of one that is refused before it does anything. */
  async isRefused(command: readonly string[], reason: string): Promise<void> {
    await this.give({
      command,
      exit: 1,
      says: reason,
      leaves: [{ type: "admin.refused", phase: "fact", detail: { reason } }],
    });
  }

  demand(isSo: boolean, otherwise: string): void {
    if (!isSo) this.result.otherwise.push(otherwise);
  }

  #look(name: string, leaves: readonly Leaf[], left: readonly AuditEvent[]): void {
    const missing = leaves.filter((wanted) => !left.some((leaf) => isLike(leaf, wanted)));
    this.result.found += leaves.length - missing.length;
    this.result.missing.push(...missing.map((wanted) => `${name}: ${JSON.stringify(wanted)}`));
  }
}

/** @returns the pseudonym of a user who was made */
async function partsUsersImages(operator: Operator): Promise<string> {
  await operator.give({ command: ["restart", "registry"], leaves: operation("admin.restart") });
  await operator.give({ command: ["stop", "registry"], leaves: operation("admin.stop") });
  await operator.give({ command: ["start", "registry"], leaves: operation("admin.start") });
  const added = await operator.give({
    command: ["add-user", "second"],
    leaves: operation("iam.user.create"),
  });
  const { userId: subject } = JSON.parse(added) as { userId: string };
  await operator.give({
    command: ["site-files", "second", "on"],
    leaves: operation("admin.control", { verb: "site-files" }),
  });
  await operator.give({
    command: ["join-token", "other-node"],
    leaves: operation("iam.node.join-token"),
  });
  // Asks the coordinator for a password for each repository.
  await operator.give({
    command: ["image", "check"],
    leaves: operation("admin.control", { verb: "registry-login" }),
  });
  await operator.give({
    command: ["image", "login", "fl-cpu"],
    leaves: operation("admin.control", { verb: "registry-login" }),
  });
  removeImage(operator.appliance, await operator.give({ command: ["image", "pull", "fl-cpu"] }));
  const token: Leaf = { type: "key.registry.token", phase: "fact" };
  await operator.give({
    command: ["image", "pull", "fl-cpu"],
    leaves: [...operation("admin.control", { verb: "registry-login" }), token],
  });
  return subject;
}

async function theLog(operator: Operator, folder: string): Promise<void> {
  const audit = (...command: string[]): string[] => ["audit", ...command];
  await operator.give({
    command: audit("export", "--out", join(folder, "export.tar")),
    leaves: operation("audit.export"),
  });
  const pack = join(folder, "soc2");
  const packed = operation("audit.export", { framework: "soc2" });
  await operator.give({ command: audit("evidence", "soc2", "--out", pack), leaves: packed });
  operator.demand(readdirSync(pack).includes("report.pdf"), "audit evidence: no report.pdf");
  const failed: Leaf = { type: "audit.export", phase: "failed", code: "audit_export_failed" };
  await operator.give({
    command: audit("evidence", "none", "--out", join(folder, "none")),
    exit: 1,
    leaves: [failed],
  });
  await operator.give({
    command: audit("calls", "--out", join(folder, "calls.jsonl")),
    leaves: operation("audit.export"),
  });
  const proof = join(folder, "entry.tlog-proof");
  const read: Leaf = { type: "audit.read", phase: "fact", detail: { entries: 1 } };
  await operator.give({ command: audit("prove", "0", "--out", proof), leaves: [read] });
  operator.demand(readFileSync(proof, "utf8").includes("tlog-proof"), "audit prove: no proof");
  await operator.give({
    command: audit("prove", "999999999", "--out", join(folder, "no")),
    exit: 1,
    leaves: [read],
  });
  const policy = join(folder, "audit.policy");
  cpSync(join(operator.appliance.root, "data", "audit", "audit.policy"), policy);
  const signers = StepUpPeople.besideRealm(operator.appliance);
  const signed = join(folder, "proof.json");
  const text = readFileSync(policy, "utf8");
  writeFileSync(signed, JSON.stringify({ proof: signers.policyProof(text) }));
  const setPolicy = audit("set-policy", policy, "--proof", signed);
  const changed = operation("audit.policy", { approvers: [OFFICER.by], single_person: false });
  await operator.give({ command: setPolicy, leaves: changed });
  await operator.isRefused(setPolicy, "approval_used");
  writeFileSync(policy, `${text}# more\n`);
  await operator.isRefused(setPolicy, "step_up_nonce");
  writeFileSync(policy, "log of-nobody\n");
  await operator.isRefused(setPolicy, "policy_invalid");
  const vouched: Leaf = { type: "audit.clock.vouched", phase: "fact" };
  await operator.give({
    command: audit("clock-is-right"),
    says: '"trusted":true',
    leaves: [vouched],
  });
  await operator.give({
    command: audit("open-shard", "--approver", "ann"),
    exit: 2,
    says: "exactly twice",
  });
  await operator.isRefused(audit("open-shard", ...TWO), "not_rolled_back");
}

/** @param subject whose values they are about */
async function personalValues(operator: Operator, folder: string, subject: string): Promise<void> {
  const { appliance } = operator;
  const privacy = (...command: string[]): string[] => ["privacy", ...command];
  const until = ["--until", "2033-01-31T00:00:00.000Z"];
  const request = ["--request", "req-1", ...REQUESTER];
  await operator.give({
    command: privacy("refuse", subject, ...request, "--legal-basis", "gdpr-17-3-b", ...until),
    leaves: [{ type: "privacy.refusal", phase: "fact", detail: { request: "req-1" } }],
  });
  const confirm = privacy("confirm-holds", ...REQUESTER, ...TWO);
  await operator.isRefused(confirm, "holds_not_in_doubt");
  const copies = join(appliance.root, "data", "vault-key-copies");
  const restore = privacy("restore-keys", join(copies, readdirSync(copies).sort().at(-1) ?? ""));
  await operator.give({
    command: restore,
    exit: 1,
    leaves: [{ type: "privacy.keys.restore", phase: "failed" }],
  });
  await operator.give({ command: ["stop", "vault"], leaves: operation("admin.stop") });
  await operator.give({
    command: restore,
    leaves: operation("privacy.keys.restore", {}, { restored: 0 }),
  });
  const values = join(appliance.root, "data", "vault");
  const older = join(folder, "vault");
  copyTree(values, older);
  await operator.give({ command: ["start", "vault"], leaves: operation("admin.start") });
  const signers = StepUpPeople.besideRealm(appliance);
  const signed = (name: string, proof: ApprovalProof): string[] => {
    const file = join(folder, `${name}.json`);
    writeFileSync(file, JSON.stringify({ proof }));
    return ["--proof", file];
  };
  const asked = { subject, request: "req-1", legalBasis: "gdpr-17" };
  // All at once: what is signed before the supervisor gives the key up stays good.
  const lift = signed("lift", signers.liftProof(subject, "case-1"));
  const held = signed("hold", signers.holdProof(subject, "case-1"));
  const erasure = signed("erasure", signers.erasureProof(asked));
  const hold = ["--hold", "case-1"];
  await operator.give({
    command: privacy("hold", subject, ...hold, "--unproven", "dpo"),
    leaves: operation("privacy.hold", {
      ...{ lifted: false, claimed: { requester: "dpo", proof: "unproven" } },
    }),
  });
  await operator.give({
    command: privacy("lift", subject, ...hold, ...lift),
    leaves: operation("privacy.hold", { lifted: true, approvers: [OFFICER.by] }),
  });
  const setHold = privacy("hold", subject, ...hold, ...held);
  await operator.give({
    command: setHold,
    leaves: operation("privacy.hold", { lifted: false, requester: OFFICER.by }),
  });
  await operator.isRefused(setHold, "approval_used");
  await operator.give({ command: ["stop", "vault"], leaves: operation("admin.stop") });
  rmSync(values, { recursive: true });
  copyTree(older, values);
  await operator.give({ command: ["start", "vault"], leaves: operation("admin.start") });
  await untilHoldsInDoubt(appliance);
  const named = ["--request", "req-1", "--legal-basis", "gdpr-17"];
  const erase = privacy("erase", subject, ...named, ...erasure);
  await operator.isRefused(erase, "holds_in_doubt");
  const confirmed: Leaf = {
    type: "privacy.holds.confirm",
    phase: "fact",
    detail: { holds: 0, claimed: { approvers: APPROVERS, proof: "unproven" } },
  };
  await operator.give({ command: confirm, leaves: [confirmed] });
}

export function isRecorded({ found, missing, otherwise, refusedUnrecorded }: Commands): boolean {
  return (
    found > 0 && [missing, otherwise, refusedUnrecorded].every((faults) => faults.length === 0)
  );
}

/** @param asked what its request says, and maybe more; `said` the same of its end */
function operation(
  type: AuditEvent["type"],
  asked: Record<string, unknown> = {},
  said: Record<string, unknown> = {},
): Leaf[] {
  return [
    { type, phase: "requested", detail: asked },
    { type, phase: "completed", detail: said },
  ];
}

function isLike({ type, phase, detail = {}, outcome }: AuditEvent, wanted: Leaf): boolean {
  const told: Record<string, unknown> = detail;
  const isSaid = Object.entries(wanted.detail ?? {}).every(
    ([name, value]) => JSON.stringify(told[name]) === JSON.stringify(value),
  );
  return (
    type === wanted.type &&
    phase === wanted.phase &&
    isSaid &&
    (wanted.code ?? outcome?.code) === outcome?.code
  );
}

/** A pull asks the registry again. */
function removeImage({ engineSocket }: LocalAppliance, reference: string): void {
  const args = ["--url", `unix://${engineSocket}`, "rmi", reference.trim()];
  const { status, stderr } = spawnSync("podman", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`podman rmi: ${stderr}`);
}

/** With owners and modes. */
function copyTree(from: string, to: string): void {
  const { status, stderr } = spawnSync("cp", ["--archive", "--no-target-directory", from, to], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`cp: ${stderr}`);
}

/** The vault learns it from auditd, which has more of it than its database. */
async function untilHoldsInDoubt(appliance: LocalAppliance): Promise<void> {
  for (const from = Date.now(); Date.now() - from < SEEN_WITHIN_MS; await sleep(500)) {
    const { holdsInDoubt } = JSON.parse(await appliance.command(["privacy", "status"])) as {
      holdsInDoubt: boolean;
    };
    if (holdsInDoubt) return;
  }
  throw new Error(`the vault did not doubt its holds within ${SEEN_WITHIN_MS / 1000} s`);
}
