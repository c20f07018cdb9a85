/** Puts a route of the operator's table into the app: the table has its address and schemas, the handler what it does. */
import {
  OPERATOR_ROUTES,
  type OperatorAnswer,
  type OperatorAsked,
  type OperatorVerb,
} from "@resontech/contracts/operator-routes";
import type { OperatorRoute } from "@resontech/contracts/operator-route";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Action } from "../authorization/actions.ts";
import type { RouteAudit } from "../http/route-config.ts";
import { responses } from "../http/responses.ts";

/** @param answer is given the fields of a request in one object, wherever they stood */
export function answerOperator<V extends OperatorVerb>(
  app: FastifyInstance,
  verb: V,
  { action, audit }: { action: Action; audit: RouteAudit },
  answer: (asked: OperatorAsked<V>, request: FastifyRequest) => Promise<OperatorAnswer<V>>,
): void {
  const route: OperatorRoute = OPERATOR_ROUTES[verb];
  const { method, path, params, query, body } = route;
  app.route({
    ...{ method, url: path },
    schema: {
      ...(params === undefined ? {} : { params }),
      ...(query === undefined ? {} : { querystring: query }),
      ...(body === undefined ? {} : { body }),
      response: responses(200, route.answer),
    },
    config: { access: { action }, audit },
    handler: async (request) => await answer(askedIn<V>(request), request),
  });
}

/** Its places were held against the table's schemas. */
function askedIn<V extends OperatorVerb>({ params, query, body }: FastifyRequest) {
  return Object.assign({}, params, query, body) as OperatorAsked<V>;
}

/** Names of people are read on record. */
export async function lookOnRecord<T>(
  request: FastifyRequest,
  verb: OperatorVerb,
  look: () => T,
): Promise<T> {
  return await request.audit.operation(
    {
      type: "admin.control",
      object: { kind: "appliance", id: "appliance" },
      detail: { verb },
    },
    async () => look(),
  );
}
