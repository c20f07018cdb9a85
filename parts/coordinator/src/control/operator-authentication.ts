/** Whoever can open root's socket is root, so its place is its lock; a header says which person of the host that is, for the audit log alone. */
import { HostPerson, PERSON_HEADER } from "@resontech/contracts/operator-route";
import type { FastifyRequest } from "fastify";
import fp from "fastify-plugin";
import { Value } from "typebox/value";
import { ApiError } from "../api-error.ts";
import type { OperatorCaller } from "../authorization/caller.ts";

export const operatorAuthentication = fp(
  async (app) => {
    app.decorateRequest("caller", null);
    app.addHook("onRequest", async (request) => {
      request.caller = operatorOf(request);
    });
  },
  { name: "authentication", dependencies: ["error-replies"] },
);

/** @throws ApiError validation_failed */
export function operatorOf({ headers }: FastifyRequest): OperatorCaller {
  const person = headers[PERSON_HEADER];
  if (person === undefined) return { kind: "operator", person: null };
  if (!Value.Check(HostPerson, person))
    throw new ApiError("validation_failed", "person: a name of printable characters is meant");
  return { kind: "operator", person };
}
