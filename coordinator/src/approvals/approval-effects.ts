/** What happens once a request is approved. Each effect is safe to repeat: a kill between effect and answer leaves the request open. */
import type { Requested } from "@resontech/contracts/http-approvals";
import { ApiError } from "../api-error.ts";
import type { ApplianceRole } from "../authorization/roles.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { AccountLinks } from "../identity/accounts/account-links.ts";
import { setProjectQuota } from "../identity/bucket-store.ts";
import { projectName } from "../identity/project-store.ts";
import { findPersonById } from "../identity/people-store.ts";
import { holdersOf, rolesOf, setRoles } from "../identity/role-holders.ts";
import type { Sessions } from "../identity/sign-in/sessions.ts";
import { PolicySetInvalid } from "../authorization/policy-files.ts";
import { type ChangedPolicies, checkPolicies } from "../policy-trial/changed-policies.ts";
import { requireRoleChange } from "./decisions/role-rules.ts";

export type ApprovalEffectsDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  links: Pick<AccountLinks, "setRole" | "resetSecondFactor">;
  sessions: Pick<Sessions, "endAll">;
  policies: ChangedPolicies;
};

export class ApprovalEffects {
  readonly #deps: ApprovalEffectsDeps;

  constructor(deps: ApprovalEffectsDeps) {
    this.#deps = deps;
  }

  /** Whether it could be done now. @throws ApiError with what stands in the way */
  require(what: Requested): void {
    const { read } = this.#deps;
    if (what.kind === "policy") return requirePolicies(what.files);
    // The vault and auditd do these, and judge what they are asked for.
    if (what.kind === "erasure" || what.kind === "audit-policy") return;
    if (what.kind === "quota") {
      if (projectName(read, what.projectId) === null)
        throw new ApiError("not_found", "there is no such project");
      return;
    }
    if (findPersonById(read, what.userId) === null)
      throw new ApiError("not_found", "there is no such user");
    if (what.kind === "role")
      requireRoleChange(
        what,
        rolesOf(read, what.userId),
        holdersOf(read, "platform-admin"),
        what.userId,
      );
  }

  /** @throws ApiError, KeycloakUnreachableError */
  async perform(what: Requested): Promise<void> {
    this.require(what);
    switch (what.kind) {
      case "role":
        return await this.#changeRole(what.userId, what.role, what.change === "grant");
      case "second-factor":
        await this.#deps.links.resetSecondFactor(what.userId);
        await this.#deps.sessions.endAll({ userId: what.userId }, "revoked");
        return;
      case "policy":
        this.#deps.policies.put(what.files);
        return;
      case "erasure":
      case "audit-policy":
        return;
      case "quota":
        await this.#deps.commit.run((db) => setProjectQuota(db, what.projectId, what.bytes));
    }
  }

  /** Sessions end: the next sign-in has the roles of then. */
  async #changeRole(userId: string, role: ApplianceRole, isGranted: boolean): Promise<void> {
    const { read, commit, links, sessions } = this.#deps;
    await links.setRole(userId, role, isGranted);
    const held = rolesOf(read, userId).filter((one) => one !== role);
    await commit.run((db) => setRoles(db, userId, isGranted ? [...held, role] : held));
    await sessions.endAll({ userId }, "revoked");
  }
}

function requirePolicies(files: Readonly<Record<string, string>>): void {
  try {
    checkPolicies(files);
  } catch (error) {
    if (!(error instanceof PolicySetInvalid)) throw error;
    throw new ApiError("policy_set_invalid", error.message);
  }
}
