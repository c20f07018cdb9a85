/**
 * What a route leaves in the audit log. A gate (`operation`) and a fact are durable before anything happens or is answered; the
 * outcome of an operation is a row of `audit_outbox`, written in the transaction of the change where there is one.
 */
import { randomUUID } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { FactType, OperationType } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure, PiiField } from "@resontech/contracts/audit-event";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { AuditGate } from "../audit-ports.ts";
import { actorOf, behalfOf } from "../authorization/in-the-log.ts";
import {
  auditedOperation,
  type EventParts,
  type FailureOutcome,
  type OpenOperation,
  type OperationDeps,
  type OperationRunner,
} from "../audited-operation.ts";
import { asApiError } from "./error-replies.ts";

export type AuditDeps = OperationDeps & { gate: AuditGate };

export class RequestAudit implements OperationRunner {
  readonly #deps: AuditDeps;
  readonly #request: FastifyRequest;
  /** True once something is durable for this request. */
  hasLogged = false;

  constructor(deps: AuditDeps, request: FastifyRequest) {
    this.#deps = deps;
    this.#request = request;
  }

  async fact<T extends FactType>(parts: EventParts<T>): Promise<void> {
    const { draft, disclosures } = this.#draft(parts, randomUUID());
    await this.#deps.gate.fact(draft, disclosures);
    this.hasLogged = true;
  }

  /**
   * Runs `effect` between `requested` and the outcome. What it throws closes the operation and is thrown on.
   * @throws AuditUnavailable before the effect
   */
  async operation<T extends OperationType, R>(
    parts: EventParts<T>,
    effect: (operation: OpenOperation<T>) => Promise<R>,
  ): Promise<R> {
    const { draft, disclosures } = this.#draft(parts, randomUUID());
    const result = await auditedOperation(this.#deps, draft, disclosures, failureOutcome, effect);
    this.hasLogged = true;
    return result;
  }

  #draft<T extends OperationType | FactType>(
    { type, object, decision, detail, pii }: EventParts<T>,
    op: string,
  ): { draft: Omit<EventDraft<T>, "phase">; disclosures: readonly Disclosure[] } {
    const commit = committer();
    const { peer, headers, caller, routeOptions } = this.#request;
    const agent = headers["user-agent"];
    const src = {
      addr: commit("src.addr", peer),
      ...(agent === undefined ? {} : { agent: commit("src.agent", agent.slice(0, 512)) }),
    };
    const behalf = behalfOf(caller);
    const fields = (Object.entries(pii ?? {}) as [PiiField, string][]).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    return {
      draft: {
        type,
        op,
        actor: actorOf(caller, commit),
        ...(behalf === undefined ? {} : { on_behalf_of: behalf }),
        src,
        action: `${this.#request.method} ${routeOptions.url ?? "/"}`,
        object:
          "path" in object
            ? { kind: "object", id: commit("object.id", object.path) }
            : { id: op, ...object },
        ...(decision === undefined ? {} : { decision }),
        ...(detail === undefined ? {} : { detail }),
        ...(fields.length === 0
          ? {}
          : {
              pii: fields.map(([field, value]) => ({
                field,
                commitment: commit(`pii.${field}`, value),
              })),
            }),
      },
      disclosures: commit.disclosures,
    };
  }
}

function failureOutcome(error: unknown): FailureOutcome {
  const known = asApiError(error);
  const status = known?.status ?? 500;
  return {
    phase: status === 403 || status === 409 ? "denied" : "failed",
    code: known?.code ?? "internal_error",
    status,
  };
}

declare module "fastify" {
  interface FastifyRequest {
    audit: RequestAudit;
  }
}

/** An answer that should have been logged and was not; a bug, so the answer is withheld. */
export class UnloggedAnswer extends Error {
  override readonly name = "UnloggedAnswer";
}

export const requestAudit = fp<AuditDeps>(
  async (app, deps) => {
    app.decorateRequest("audit");
    app.addHook("onRequest", async (request) => {
      request.audit = new RequestAudit(deps, request);
    });
    app.addHook("preSerialization", async (request, reply, payload) => {
      const declared = request.routeOptions.config.audit;
      const mustLog = declared !== undefined && "event" in declared && !("loggedBy" in declared);
      if (mustLog && reply.statusCode < 400 && !request.audit.hasLogged)
        throw new UnloggedAnswer(declared.event);
      return payload;
    });
  },
  { name: "request-audit", dependencies: ["error-replies", "peer-address"] },
);
