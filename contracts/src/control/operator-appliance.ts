/** The appliance as a whole: how it does, stops that are planned, and what the host's own commands need of the coordinator. */
import { type Static, Type } from "typebox";
import { ApprovalProof } from "../audit/approval-proof.ts";
import { closed } from "../closed.ts";
import { IdParam, Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import type { CoordinatorHealth } from "./coordinator-health.ts";
import { operatorRoute } from "./operator-route.ts";

/** Longest planned stop: KERNEL "Leases". */
export const MAX_MAINTENANCE_S = 900;

/** `question`: JSON of kinds of caller and row, never an id; the coordinator alone knows its form. `lastAt`: Unix milliseconds. */
export const DecisionFacts = Type.Object(
  { question: Type.String(), times: Type.Integer(), lastAt: Type.Integer() },
  closed,
);
export type DecisionFacts = Static<typeof DecisionFacts>;

const Count = Type.Integer({ minimum: 0 });

export const APPLIANCE_ROUTES = {
  status: operatorRoute({
    ...{ method: "GET", path: "/api/operator/status" },
    answer: Type.Object(
      {
        jobs: Type.Record(Type.String(), Count),
        nodes: Type.Array(
          Type.Object({ node: Type.String(), state: Type.String(), workers: Count }, closed),
        ),
        generation: Count,
        /** For findings of the same release, which look at each part of it as it comes. */
        health: Type.Unsafe<CoordinatorHealth>(Type.Object({}, { additionalProperties: true })),
        /** SHA-256 of the policies by which it decides. */
        policySet: Type.String(),
      },
      closed,
    ),
  }),
  /** A planned stop of so many seconds: leases outlive it. 0 ends it. */
  maintenance: operatorRoute({
    ...{ method: "PUT", path: "/api/operator/maintenance" },
    body: Type.Object({ forS: Type.Integer({ minimum: 0, maximum: MAX_MAINTENANCE_S }) }, closed),
    /** `until` is null when it was ended; `untold` are living nodes that did not answer, whose work stops with their lease. */
    answer: Type.Object({ until: Nullable(Instant), untold: Type.Array(Type.String()) }, closed),
  }),
  "registry-login": operatorRoute({
    ...{ method: "POST", path: "/api/operator/registry-logins" },
    body: Type.Object(
      {
        repository: Type.String({ maxLength: 256, pattern: "^[a-z0-9]+(?:[._/-][a-z0-9]+)*$" }),
        /** For so long as often as wanted, as a person's client asks for a token again and again; once within five minutes without. */
        forS: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400 })),
      },
      closed,
    ),
    answer: Type.Object({ username: Type.String(), password: Type.String() }, closed),
  }),
  /** What shows that two people approved a request, for who performs it. */
  "approval-proof": operatorRoute({
    ...{ method: "GET", path: "/api/operator/approvals/:approval/proof" },
    params: Type.Object({ approval: IdParam }, closed),
    answer: Type.Object({ proof: ApprovalProof }, closed),
  }),
  /**
   * A page of what was decided within the last week, each kind of question once. `after` is the last question of the page before: too long for an address, so
   * it is posted. `next` is null on the last page.
   */
  "policy-decisions": operatorRoute({
    ...{ method: "POST", path: "/api/operator/decisions" },
    body: Type.Object({ after: Type.Optional(Type.String({ maxLength: 16_384 })) }, closed),
    answer: Type.Object(
      {
        policySet: Type.String(),
        decisions: Type.Array(DecisionFacts),
        next: Nullable(Type.String()),
      },
      closed,
    ),
  }),
} as const;
