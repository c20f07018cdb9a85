/**
 * What a route leaves in the audit log. A gate (`operation`) and a fact are durable before anything happens or is answered; the
 * outcome of an operation is a row of `audit_outbox`, written in the transaction of the change where there is one. Refusals are counted: of one source
 * and kind the first of a minute is a record, and the rest is one with a count.
 */
import { randomUUID } from "node:crypto";
import { committer, type Refusal, RefusalTally, type Repeats } from "@resontech/audit/producer";
import type { EventDetail, FactType, OperationType } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure, Outcome, PiiField } from "@resontech/contracts/audit-event";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import type { AuditGate } from "../audit-ports.ts";
import type { Caller } from "../authorization/caller.ts";
import { actorOf, behalfOf, COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import {
  auditedOperation,
  type EventParts,
  type FailureOutcome,
  type OpenOperation,
  type OperationDeps,
  type OperationRunner,
} from "../audited-operation.ts";
import { asApiError } from "./error-replies.ts";

export type AuditDeps = OperationDeps & { gate: AuditGate; now: () => number };
type RequestAuditDeps = AuditDeps & {
  /** The address that a request comes from; null where all come from this host. */
  sourceOf: (request: FastifyRequest) => string | null;
};

/** What the log needs to know of a request: no more, since refusals keep it for a minute. */
type Asked = {
  source: string | null;
  agent: string | undefined;
  caller: Caller | null;
  action: string | undefined;
};

type RefusalType = "auth.failure" | "auth.refused" | "auth.session.refused" | "data.object.refused";
/** @property outcome what the caller is told */
export type RefusalParts<T extends RefusalType> = Omit<EventParts<T>, "detail" | "pii"> & {
  outcome: Outcome;
  detail: Omit<EventDetail<T>, "count" | "window_s">;
};

const APPLIANCE = { kind: "appliance", id: "appliance" } as const;
/** By what refusals of requests without an address are counted. */
const OF_THE_HOST = "host";

export class RequestAudit implements OperationRunner {
  readonly #deps: RequestAuditDeps;
  readonly #refusals: RefusalTally;
  readonly #request: FastifyRequest;
  /** True once something is durable for this request. */
  hasLogged = false;

  constructor(deps: RequestAuditDeps, refusals: RefusalTally, request: FastifyRequest) {
    this.#deps = deps;
    this.#refusals = refusals;
    this.#request = request;
  }

  async fact<T extends FactType>(parts: EventParts<T>): Promise<void> {
    const { draft, disclosures } = draftOf(this.#asked(), parts, randomUUID());
    await this.#deps.gate.fact(draft, disclosures);
    this.hasLogged = true;
  }

  /**
   * Resolves once the refusal is durable, or counted as a repeat.
   * @returns how many refusals this address had in its minute
   * @throws AuditUnavailable
   */
  refusal<T extends RefusalType>(parts: RefusalParts<T>): Promise<number> {
    return this.#refusals.add(this.#refusal(parts));
  }

  /** As {@link refusal}, for an answer whose time must tell nothing: the record is made once the answer is on its way. */
  noteRefusal<T extends RefusalType>(parts: RefusalParts<T>): void {
    const { write, ...refusal } = this.#refusal(parts);
    this.#refusals.note({
      ...refusal,
      write: async (repeats) => {
        await new Promise(setImmediate);
        await write(repeats);
      },
    });
  }

  /**
   * Runs `effect` between `requested` and the outcome. What it throws closes the operation and is thrown on.
   * @throws AuditUnavailable before the effect
   */
  async operation<T extends OperationType, R>(
    parts: EventParts<T>,
    effect: (operation: OpenOperation<T>) => Promise<R>,
  ): Promise<R> {
    const { draft, disclosures } = draftOf(this.#asked(), parts, randomUUID());
    const result = await auditedOperation(this.#deps, draft, disclosures, failureOutcome, effect);
    this.hasLogged = true;
    return result;
  }

  #asked(): Asked {
    const { headers, caller, method, routeOptions } = this.#request;
    const agent = headers["user-agent"]?.slice(0, 512);
    const source = this.#deps.sourceOf(this.#request);
    return { source, agent, caller, action: `${method} ${routeOptions.url ?? "/"}` };
  }

  #refusal<T extends RefusalType>(parts: RefusalParts<T>): Refusal {
    const { gate } = this.#deps;
    const asked = this.#asked();
    const { type, object, outcome, detail } = parts;
    const { sub } = actorOf(asked.caller, () => "");
    // Failed credentials are counted over all routes.
    const action = type === "auth.failure" ? undefined : asked.action;
    const { reason = outcome.code, project, kind } = detail as Record<string, unknown>;
    return {
      source: asked.source ?? OF_THE_HOST,
      kind: JSON.stringify([type, reason, action, sub, object, project, kind]),
      write: async (repeats) => {
        const { draft, disclosures } = draftOf(
          repeats === null ? asked : { ...asked, action, agent: undefined },
          { ...parts, detail: { ...detail, ...countOf(type, repeats) } as EventDetail<T> },
          randomUUID(),
        );
        await gate.fact({ ...draft, outcome }, disclosures);
      },
    };
  }
}

/** Says how often it was: each record of a failed credential has a count, of all else the one of the repeats alone. */
function countOf(type: RefusalType, repeats: Repeats | null): object {
  if (repeats !== null) return { count: repeats.count, window_s: repeats.windowS };
  return type === "auth.failure" ? { count: 1, window_s: 0 } : {};
}

function draftOf<T extends OperationType | FactType>(
  { source, agent, caller, action }: Asked,
  { type, object, decision, detail, pii }: EventParts<T>,
  op: string,
): { draft: Omit<EventDraft<T>, "phase">; disclosures: readonly Disclosure[] } {
  const commit = committer();
  const src = {
    ...(source === null ? {} : { addr: commit("src.addr", source) }),
    ...(agent === undefined ? {} : { agent: commit("src.agent", agent) }),
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
      ...(Object.keys(src).length === 0 ? {} : { src }),
      ...(action === undefined ? {} : { action }),
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

/** Records that there were more addresses, or more kinds of one address, than are counted by themselves. */
async function writeBeyond(
  gate: AuditGate,
  { count, windowS }: Repeats,
  source: string | null,
): Promise<void> {
  const commit = committer();
  await gate.fact(
    {
      ...{ type: "auth.failure", op: randomUUID(), actor: COORDINATOR_ACTOR, object: APPLIANCE },
      ...(source === null ? {} : { src: { addr: commit("src.addr", source) } }),
      detail: { reason: "many_refusals", count, window_s: windowS },
    },
    commit.disclosures,
  );
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

export const requestAudit = fp<RequestAuditDeps>(
  async (app, deps) => {
    const refusals = new RefusalTally({
      now: deps.now,
      writeBeyond: (repeats, source) => writeBeyond(deps.gate, repeats, source),
      onError: (err) => app.log.error({ err }, "refusals are not on record yet"),
    });
    app.decorateRequest("audit");
    app.addHook("onRequest", async (request) => {
      request.audit = new RequestAudit(deps, refusals, request);
    });
    app.addHook("onClose", () => refusals.close());
    app.addHook("preSerialization", async (request, reply, payload) => {
      const declared = request.routeOptions.config.audit;
      const mustLog = declared !== undefined && "event" in declared && !("loggedBy" in declared);
      if (mustLog && reply.statusCode < 400 && !request.audit.hasLogged)
        throw new UnloggedAnswer(declared.event);
      return payload;
    });
  },
  { name: "request-audit", dependencies: ["error-replies"] },
);
