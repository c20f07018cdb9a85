/** The appliance as a whole: how it does, planned stops, and what the host's own commands need. */
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../api-error.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import { policiesInForce } from "../../authorization/policies-in-force.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { instant } from "../../http/decisions/job-replies.ts";
import type { RegistryPasswords } from "../../identity/registry-passwords.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { MaintenanceReply } from "../../nodes/maintenance.ts";
import { pageOfDecisions } from "../../policy-trial/decision-history.ts";
import { answerOperator, lookOnRecord } from "../answer-operator.ts";

export type OperatorApplianceDeps = {
  read: ReadHandle;
  now: () => number;
  kernel: Pick<Kernel, "status">;
  health: () => Promise<CoordinatorHealth>;
  passwords: Pick<RegistryPasswords, "issue">;
  /** Null where the appliance has no identity provider. */
  approvals: Pick<Approvals, "proof"> | null;
  /** Leases outlive a planned stop of so many seconds; 0 ends it. */
  maintain: (forS: number) => Promise<MaintenanceReply>;
};

const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

export async function operatorApplianceRoutes(
  app: FastifyInstance,
  { read, now, kernel, health, passwords, approvals, maintain }: OperatorApplianceDeps,
): Promise<void> {
  answerOperator(
    app,
    "status",
    { action: "appliance.status", audit: { none: "status" } },
    async () => ({
      ...{ ...kernel.status(), health: await health(), policySet: policiesInForce().sha256 },
    }),
  );

  answerOperator(
    app,
    "maintenance",
    { action: "appliance.maintain", audit: { event: "admin.maintenance" } },
    async ({ forS }, request) => {
      const { until, untold } = await request.audit.operation(
        {
          ...{ type: "admin.maintenance", object: APPLIANCE },
          detail: { until_s: Math.floor(now() / 1000) + forS },
        },
        () => maintain(forS),
      );
      return { until: until === null ? null : instant(until), untold };
    },
  );

  answerOperator(
    app,
    "registry-login",
    { action: "registry.login", audit: { event: "admin.control" } },
    async ({ repository, forS }, request) =>
      await lookOnRecord(request, "registry-login", () => passwords.issue(repository, {}, forS)),
  );

  answerOperator(
    app,
    "approval-proof",
    { action: "approval.proof", audit: { event: "admin.control" } },
    // With tokens come names of people.
    async ({ approval }, request) => ({
      proof: await lookOnRecord(request, "approval-proof", () => {
        if (approvals === null)
          throw new ApiError("identity_unavailable", "this appliance has no identity provider");
        return approvals.proof(approval);
      }),
    }),
  );

  answerOperator(
    app,
    "policy-decisions",
    { action: "policy.read", audit: { none: "status" } },
    async ({ after }) => ({
      ...{ policySet: policiesInForce().sha256, ...pageOfDecisions(read, after ?? null) },
    }),
  );
}
