/** Requests that a second person answers: made, approved with their effect, denied, withdrawn, expired. */
import { hash, randomBytes, randomUUID } from "node:crypto";
import type { ApprovalProof, StepUpStatement } from "@resontech/contracts/approval-proof";
import {
  type ApprovalKind,
  type ApprovalReply,
  type ApprovalState,
  type Requested,
  type RequestedChange,
} from "@resontech/contracts/http-approvals";
import { ApiError } from "../api-error.ts";
import type { RecordEvent } from "../audit-ports.ts";
import type { OpenOperation, OperationRunner } from "../audited-operation.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { forgetOverGrants } from "../storage/export-grants.ts";
import { projectQuota } from "../identity/bucket-store.ts";
import { projectName } from "../identity/project-store.ts";
import { findPersonById } from "../identity/people-store.ts";
import { holdersOf, rolesOf } from "../identity/role-holders.ts";
import { findSignature, type KeptSignature } from "../identity/sign-in/step-up-signatures.ts";
import { policiesInForce } from "../authorization/policies-in-force.ts";
import type { ApplianceRole } from "../authorization/roles.ts";
import type { ApprovalChanges } from "./approval-changes.ts";
import { type ShareChanges, shareDetail } from "../shares/share-changes.ts";
import { type ApprovalEffects, shareChangeOf, EXPORT_MS } from "./approval-effects.ts";
import {
  answerApproval,
  type Approval,
  findApproval,
  insertApproval,
  noteBegun,
  overdueApprovals,
} from "./approval-store.ts";
import { checkPolicies } from "../policy-trial/changed-policies.ts";
import { asKept } from "./decisions/as-kept.ts";
import { changesOf } from "./decisions/changes-of.ts";
import { beneficiaryOf } from "./decisions/beneficiary-of.ts";
import { summaryOf } from "./decisions/summary.ts";
import { isSelfAnswered, isSigned } from "./decisions/who-signs.ts";

/** Nobody answered: the request is over. */
const LIFE_MS = 72 * 3_600_000;
/** From an approver's signature to the answer. */
const SIGNATURE_MS = 5 * 60_000;
const OFFICERS = ["security-officer"] as const;
const KEEPERS = ["security-officer", "data-steward"] as const;
/** Roles of the whole appliance who answer a request; as the policies have it. */
const ANSWERERS: Record<ApprovalKind, readonly ApplianceRole[]> = {
  role: OFFICERS,
  "second-factor": OFFICERS,
  policy: OFFICERS,
  "audit-policy": OFFICERS,
  quota: ["platform-admin"],
  erasure: KEEPERS,
  hold: OFFICERS,
  lift: KEEPERS,
  disclosure: KEEPERS,
  export: KEEPERS,
  image: OFFICERS,
  share: OFFICERS,
};

export type ApprovalsDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  record: RecordEvent;
  effects: ApprovalEffects;
  shares: Pick<ShareChanges, "find">;
  changes: Pick<ApprovalChanges, "note">;
  now: () => number;
};
type Audit = OperationRunner;

export class Approvals {
  readonly #deps: ApprovalsDeps;
  /** An approval whose effect is under way: two approvers don't do it twice. */
  readonly #answering = new Set<string>();

  constructor(deps: ApprovalsDeps) {
    this.#deps = deps;
  }

  /** Nobody but the requester could answer: the action goes on alone, and is marked so. */
  isSinglePerson(requesterId: string, kind: ApprovalKind): boolean {
    const { read } = this.#deps;
    return ANSWERERS[kind]
      .flatMap((role) => holdersOf(read, role))
      .every((one) => one === requesterId);
  }

  /** What a person signs to ask for a request, or to approve it. @throws ApiError where nothing of it is to be signed */
  statementOf(
    { id, what }: Pick<Approval, "id" | "what">,
    answer: StepUpStatement["answer"],
    by: string,
  ): Omit<StepUpStatement, "salt"> {
    if (!isSigned(what))
      throw new ApiError("validation_failed", "a request of this kind takes no signature");
    this.#open(id);
    return { approval: id, answer, by, what };
  }

  /** Both signatures, for who performs the act. @throws ApiError where nobody approved it, or it needs none */
  proof(id: string): ApprovalProof {
    const approval = findApproval(this.#deps.read, id);
    if (approval === null) throw new ApiError("not_found", "there is no such request");
    const { state, requesterId, deciderId } = approval;
    if (state !== "approved" || deciderId === null)
      throw new ApiError("approval_required", `the request is ${state}, not approved`);
    const requested = this.#signature(id, "request", requesterId);
    const isAlone = deciderId === requesterId;
    const approved = isAlone ? null : this.#signature(id, "approve", deciderId);
    if (requested === null || (approved === null && !isAlone))
      throw new ApiError("signature_required", "the request was approved without signatures");
    return {
      approval: id,
      requested: withoutAge(requested),
      approved: approved === null ? null : withoutAge(approved),
    };
  }

  /** @param singlePerson it is done at once @throws ApiError with what stands in the way */
  async request(
    audit: Audit,
    asked: Requested,
    {
      requesterId,
      reason,
      singlePerson,
    }: {
      requesterId: string;
      reason: string | null;
      singlePerson: boolean;
    },
  ): Promise<Approval> {
    const { effects, commit, changes, now } = this.#deps;
    const what = asKept(asked);
    effects.require(what);
    const at = now();
    // What is signed has to be signed first, by whoever is alone as well.
    const isDone = singlePerson && !isSigned(what);
    const approval: Approval = {
      ...{ id: `a_${randomBytes(12).toString("hex")}`, what, requesterId, reason, singlePerson },
      projectId: effects.projectOf(what),
      state: isDone ? "approved" : "requested",
      deciderId: isDone ? requesterId : null,
      ...{ createdAt: at, expiresAt: at + LIFE_MS, decidedAt: isDone ? at : null },
    };
    return await audit.operation(
      {
        type: "iam.approval.request",
        object: { kind: "approval", id: approval.id },
        detail: { kind: what.kind, single_person: singlePerson },
      },
      ({ completeIn }) =>
        effects.inTurn(async () => {
          const settled = (db: WriteHandle) => {
            insertApproval(db, approval);
            changes.note(approval.id);
            completeIn(db);
          };
          if (isDone) {
            this.#requireStillAlone(approval);
            await this.#perform(audit, { ...approval, isBegun: false }, null, settled);
          } else await commit.run(settled);
          return approval;
        }),
    );
  }

  /** @throws ApiError approval_answered, and what stands in the way of the effect: then the request stays open */
  async answer(
    audit: Audit,
    id: string,
    state: Extract<ApprovalState, "approved" | "denied" | "withdrawn">,
    { deciderId, reason }: { deciderId: string; reason: string | null },
  ): Promise<Approval> {
    const { commit, changes, now, read, effects } = this.#deps;
    const approval = this.#open(id);
    if (this.#answering.has(id)) throw answered();
    if (state === "approved") {
      requireNoBeneficiary(approval, deciderId);
      this.#requireSignatures(approval, deciderId);
    }
    const mayAnswer = this.#answersByRow(approval, deciderId);
    this.#answering.add(id);
    try {
      return await audit.operation(
        {
          type: "iam.approval.answer",
          object: { kind: "approval", id },
          detail: { kind: approval.what.kind, answer: state },
        },
        ({ completeIn }) =>
          effects.inTurn(async () => {
            if (mayAnswer && !this.#answersByRow(approval, deciderId))
              throw new ApiError("role_required", "who answers holds no role for it any more");
            const settled = (db: WriteHandle) => {
              if (!answerApproval(db, id, { state, deciderId, reason, decidedAt: now() }))
                throw answered();
              changes.note(id);
              completeIn(db);
            };
            if (state === "approved") {
              const begun = { ...approval, isBegun: approval.deciderId !== null };
              await this.#perform(audit, begun, deciderId, settled);
            } else await commit.run(settled);
            return findApproval(read, id)!;
          }),
      );
    } finally {
      this.#answering.delete(id);
    }
  }

  reply(approval: Approval): ApprovalReply {
    const { read } = this.#deps;
    const { what, requesterId, deciderId, createdAt, expiresAt, decidedAt } = approval;
    const person = (id: string) => ({ id, username: findPersonById(read, id)?.username ?? "" });
    return {
      ...{
        id: approval.id,
        what,
        summary: summaryOf(what, this.#nameIn(approval)),
        changes: approval.state === "requested" ? this.#changes(approval) : [],
        state: approval.state,
      },
      requester: person(requesterId),
      // Until it is answered that is who approved it when a kill came between.
      decider: deciderId === null || approval.state === "requested" ? null : person(deciderId),
      isSigned: isSigned(what)
        ? this.#signature(approval.id, "request", requesterId) !== null
        : null,
      ...{ reason: approval.reason, singlePerson: approval.singlePerson },
      createdAt: instant(createdAt),
      expiresAt: instant(expiresAt),
      decidedAt: decidedAt === null ? null : instant(decidedAt),
    };
  }

  #changes(approval: Approval): RequestedChange[] {
    const { read, shares } = this.#deps;
    const { what } = approval;
    return changesOf(what, {
      name: this.#nameIn(approval),
      held: what.kind === "role" ? rolesOf(read, what.userId) : [],
      quotaBytes: what.kind === "quota" ? projectQuota(read, what.projectId) : null,
      share: what.kind === "share" ? shares.find(what.share) : null,
      policies: what.kind === "policy" ? policiesInForce().files : new Map(),
    });
  }

  /** What the words about a request name: a person, a project, or a digest. */
  #nameIn({ what, requesterId }: Approval): string {
    const { read } = this.#deps;
    const username = (id: string): string => findPersonById(read, id)?.username ?? "";
    switch (what.kind) {
      case "policy":
        return checkPolicies(what.files).set.sha256;
      case "audit-policy":
        return hash("sha256", what.policy);
      case "erasure":
      case "hold":
      case "lift":
        return what.subject;
      case "disclosure":
        return what.receiver;
      case "image":
        return what.name;
      case "share":
        return this.#deps.shares.find(what.share)?.name ?? "a share that is gone";
      case "export":
        return username(requesterId);
      case "quota":
        return projectName(read, what.projectId) ?? "a project that is gone";
      case "role":
      case "second-factor":
        return username(what.userId);
    }
  }

  /** Ends requests that nobody answered. */
  async sweep(): Promise<void> {
    const { read, commit, record, changes, now } = this.#deps;
    const at = now();
    const overdue = overdueApprovals(read, at);
    await commit.run((db) => {
      forgetOverGrants(db, at);
      for (const { id } of overdue) {
        const over = { state: "expired", deciderId: null, reason: null, decidedAt: at } as const;
        if (!answerApproval(db, id, over)) continue;
        changes.note(id);
        record(db, {
          ...{ type: "iam.approval.expire", phase: "fact", op: randomUUID() },
          ...{ actor: COORDINATOR_ACTOR, object: { kind: "approval", id } },
        });
      }
    });
  }

  #signature(
    approval: string,
    answer: StepUpStatement["answer"],
    by: string,
  ): KeptSignature | null {
    return findSignature(this.#deps.read, { approval, answer, by });
  }

  /** @throws ApiError signature_required */
  #requireSignatures({ id, what, requesterId, singlePerson }: Approval, deciderId: string): void {
    if (!isSigned(what)) return;
    if (this.#signature(id, "request", requesterId) === null)
      throw new ApiError("signature_required", "whoever asks for this has not signed it yet");
    if ((singlePerson || isSelfAnswered(what.kind)) && deciderId === requesterId) return;
    const own = this.#signature(id, "approve", deciderId);
    if (own === null || own.signedAt <= this.#deps.now() - SIGNATURE_MS)
      throw new ApiError("signature_required", "an approval of this has to be signed, just now");
  }

  #open(id: string): Approval {
    const approval = findApproval(this.#deps.read, id);
    if (approval === null) throw new ApiError("not_found", "there is no such request");
    if (approval.state !== "requested" || approval.expiresAt <= this.#deps.now()) throw answered();
    return approval;
  }

  /** Whether the rows say that this person may answer: what was so when the answer came must still be so in its turn. */
  #answersByRow({ what }: Approval, deciderId: string): boolean {
    const held = rolesOf(this.#deps.read, deciderId);
    return ANSWERERS[what.kind].some((role) => held.includes(role));
  }

  /** Somebody else may have come to a role while this waited for its turn. @throws ApiError approval_required */
  #requireStillAlone({ requesterId, what }: Approval): void {
    if (!this.isSinglePerson(requesterId, what.kind))
      throw new ApiError("approval_required", "somebody else can approve this by now");
  }

  /**
   * The effect is an operation of its own: the log says what changed, from what, by which request, who asked and who agreed.
   * @param approverId null: nobody else was there
   * @param settled answers the request; it joins the transaction of the effect
   */
  async #perform(
    audit: Audit,
    approval: Approval & { isBegun: boolean },
    approverId: string | null,
    settled: (db: WriteHandle) => void,
  ): Promise<void> {
    const { id, what, requesterId } = approval;
    const { effects, commit, now, read } = this.#deps;
    const by = {
      ...{ approval: id, requester: requesterId },
      ...(approverId === null ? { single_person: true } : { approvers: [approverId] }),
    };
    const effect = async (operation: OpenOperation) => {
      // Keycloak may have the role before it stands here: whoever answers after a kill has to know that.
      if (what.kind === "role" && approverId !== null) {
        effects.require(what, approval.isBegun);
        await commit.run((db) => noteBegun(db, id, approverId));
      }
      await effects.perform(approval, (db) => {
        operation.completeIn(db);
        settled(db);
      });
    };
    switch (what.kind) {
      // Done elsewhere, on record there.
      case "erasure":
      case "hold":
      case "lift":
      case "disclosure":
      case "audit-policy":
      case "image":
        return await effects.perform(approval, settled);
      case "export":
        return await audit.operation(
          {
            type: "data.output.release",
            object: { kind: "job", id: what.jobId },
            detail: {
              ...{ ...by, files: what.files.length },
              until: instant(now() + EXPORT_MS),
            },
          },
          effect,
        );
      case "role":
        return await audit.operation(
          {
            type: "iam.role.change",
            object: { kind: "user", id: what.userId },
            detail: { role: what.role, change: what.change, ...by },
          },
          effect,
        );
      case "second-factor":
        return await audit.operation(
          {
            type: "iam.user.change",
            object: { kind: "user", id: what.userId },
            detail: { change: "second-factor", ...by },
          },
          effect,
        );
      case "policy":
        return await audit.operation(
          {
            type: "admin.policy",
            object: { kind: "appliance", id: "appliance" },
            detail: {
              policy_set_sha256: checkPolicies(what.files).set.sha256,
              policy_set_sha256_before: policiesInForce().sha256,
              ...by,
            },
          },
          effect,
        );
      case "share":
        return await audit.operation(
          {
            type: "admin.shares",
            object: { kind: "appliance", id: "appliance" },
            detail: { ...shareDetail(what.share, shareChangeOf(what)), ...by },
          },
          effect,
        );
      case "quota": {
        const before = projectQuota(read, what.projectId);
        return await audit.operation(
          {
            type: "iam.project.change",
            object: { kind: "project", id: what.projectId },
            detail: {
              ...{ change: "quota", quota_bytes: what.bytes },
              ...(before === null ? {} : { quota_bytes_before: before }),
              ...by,
            },
          },
          effect,
        );
      }
    }
  }
}

/** Who gains by a request does not approve it. @throws ApiError own_request */
function requireNoBeneficiary({ what }: Approval, deciderId: string): void {
  if (beneficiaryOf(what) === deciderId)
    throw new ApiError("own_request", "nobody approves what they gain by themselves");
}

function answered(): ApiError {
  return new ApiError("approval_answered", "the request was answered, withdrawn or is over");
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

function withoutAge({ by, salt, token }: KeptSignature): ApprovalProof["requested"] {
  return { by, salt, token };
}
