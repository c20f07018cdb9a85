/**
 * What happens once a request is approved. What an effect writes here stands in one transaction with the answer and both outcomes: a kill leaves all of it, or
 * an open request. What it does elsewhere comes before, and is safe to repeat.
 */
import type { Requested } from "@resontech/contracts/http-approvals";
import { ApiError } from "../api-error.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { AccountLinks } from "../identity/accounts/account-links.ts";
import { setProjectQuota } from "../identity/bucket-store.ts";
import type { ShareChange } from "../kernel/share-table.ts";
import { projectName } from "../identity/project-store.ts";
import { findPersonById } from "../identity/people-store.ts";
import type { Sessions } from "../identity/sign-in/sessions.ts";
import { PolicySetInvalid } from "../authorization/policy-files.ts";
import { type ChangedPolicies, checkPolicies } from "../policy-trial/changed-policies.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { ShareChanges } from "../shares/share-changes.ts";
import { grantExport } from "../storage/export-grants.ts";
import type { Approval } from "./approval-store.ts";
import { isSigned } from "./decisions/who-signs.ts";
import type { RoleChanges } from "./role-changes.ts";

export type ApprovalEffectsDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  links: Pick<AccountLinks, "resetSecondFactor">;
  roleChanges: Pick<RoleChanges, "require" | "change" | "inTurn">;
  sessions: Pick<Sessions, "endAllIn">;
  policies: ChangedPolicies;
  kernel: Pick<Kernel, "job" | "outputs">;
  shares: Pick<ShareChanges, "find" | "require" | "apply">;
  now: () => number;
};
type PerformedApproval = Pick<Approval, "id" | "what" | "requesterId"> & {
  /** An earlier life began it for this request, and was killed before the answer stood. */
  isBegun: boolean;
};

/** How long released outputs may be read. */
export const EXPORT_MS = 24 * 3_600_000;

export class ApprovalEffects {
  readonly #deps: ApprovalEffectsDeps;

  constructor(deps: ApprovalEffectsDeps) {
    this.#deps = deps;
  }

  /** Whether it could be done now. @throws ApiError with what stands in the way */
  require(what: Requested, isBegun = false): void {
    const { read } = this.#deps;
    if (what.kind === "policy") return requirePolicies(what.files);
    // The vault and auditd do these, and judge what they are asked for.
    if (isSigned(what)) return;
    // The file is on the host, or nowhere yet: whoever has it there admits it.
    if (what.kind === "image") return;
    if (what.kind === "export") {
      this.#exported(what);
      return;
    }
    if (what.kind === "quota") {
      if (projectName(read, what.projectId) === null)
        throw new ApiError("not_found", "there is no such project");
      return;
    }
    if (what.kind === "share")
      return this.#deps.shares.require(what.share, shareChangeOf(what), { mayLower: true });
    if (what.kind === "role") return this.#deps.roleChanges.require(what.userId, what, isBegun);
    if (findPersonById(read, what.userId) === null)
      throw new ApiError("not_found", "there is no such user");
  }

  /** Of what the request is; null where it concerns the whole appliance. */
  projectOf(what: Requested): string | null {
    if (what.kind === "quota") return what.projectId;
    // Its leads see what is asked for of their guarantee.
    if (what.kind === "share")
      return this.#deps.shares.find(what.share)?.kind === "project" ? what.share : null;
    return what.kind === "export" ? (this.#deps.kernel.job(what.jobId)?.projectId ?? null) : null;
  }

  /** Effects run one at a time: what one of them changes, the next one's checks see. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#deps.roleChanges.inTurn(work);
  }

  /** Inside a turn. @param settled joins the transaction of the effect @throws ApiError, KeycloakUnreachableError */
  async perform(
    { id, what, requesterId, isBegun }: PerformedApproval,
    settled: (db: WriteHandle) => void,
  ): Promise<void> {
    const { commit, roleChanges, links, sessions, policies, shares, now } = this.#deps;
    this.require(what, isBegun);
    switch (what.kind) {
      case "role":
        return await roleChanges.change(what.userId, what, { settled, isBegun });
      case "second-factor":
        await links.resetSecondFactor(what.userId);
        return await commit.run((db) => {
          sessions.endAllIn(db, { userId: what.userId }, "revoked");
          settled(db);
        });
      case "policy":
        policies.put(what.files);
        return await commit.run(settled);
      case "erasure":
      case "hold":
      case "lift":
      case "disclosure":
      case "audit-policy":
      case "image":
        return await commit.run(settled);
      case "export": {
        const { bucket, files } = this.#exported(what);
        const grant = { approvalId: id, userId: requesterId, bucket, until: now() + EXPORT_MS };
        return await commit.run((db) => {
          for (const { key, versionId } of files) grantExport(db, { ...grant, key, versionId });
          settled(db);
        });
      }
      case "share":
        return await commit.run((db) => {
          shares.apply(what.share, shareChangeOf(what), { mayLower: true });
          settled(db);
        });
      case "quota":
        return await commit.run((db) => {
          setProjectQuota(db, what.projectId, what.bytes);
          settled(db);
        });
    }
  }

  /** @throws ApiError for files that are no outputs of the job, by version and digest */
  #exported({ jobId, files }: Extract<Requested, { kind: "export" }>): {
    bucket: string;
    files: { key: string; versionId: string }[];
  } {
    const { kernel } = this.#deps;
    const job = kernel.job(jobId);
    if (job === null) throw new ApiError("not_found", "there is no such job");
    const outputs = new Map(kernel.outputs(jobId).map((one) => [one.key, one]));
    const unknown = files.find(({ key, versionId, sha256 }) => {
      const output = outputs.get(key);
      return output?.versionId !== versionId || output.sha256 !== sha256;
    });
    if (unknown !== undefined)
      throw new ApiError("export_files_unknown", `${unknown.key} is no output of this job so`);
    return { bucket: job.bucket, files };
  }
}

/** What is asked for of a share, without what names it. */
export function shareChangeOf({
  kind: _kind,
  share: _share,
  ...change
}: Extract<Requested, { kind: "share" }>): ShareChange {
  return change;
}

function requirePolicies(files: Readonly<Record<string, string>>): void {
  try {
    checkPolicies(files);
  } catch (error) {
    if (!(error instanceof PolicySetInvalid)) throw error;
    throw new ApiError("policy_set_invalid", error.message);
  }
}
