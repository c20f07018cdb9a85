/** What each API of ours begins with, whoever may ask it: ids and headers, the form of errors, schemas, and what a route must state. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ErrorReply } from "@resontech/contracts/http-common";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from "fastify";
import { errorBody } from "../api-error.ts";
import { answerClientError } from "./client-errors.ts";
import { errorReplies } from "./error-replies.ts";
import { routeDeclarations } from "./route-config.ts";
import { serializersWhenUsed, validatorsWhenUsed } from "./schemas-when-used.ts";
import { schemaValidators } from "./validation.ts";

/** When schemas of routes are compiled; a test has all of them compiled, so that none is wrong. */
export type SchemasCompiled = "at start" | "when used";

/** @param options beside those that hold for every API */
export async function makeApi(
  logger: FastifyBaseLogger,
  options: FastifyServerOptions,
  compiled: SchemasCompiled = "when used",
): Promise<FastifyInstance> {
  const isLazy = compiled === "when used";
  const app = Fastify({
    ...options,
    ...(isLazy
      ? { schemaController: { compilersFactory: { buildSerializer: serializersWhenUsed } } }
      : {}),
    loggerInstance: logger,
    genReqId: () => randomUUID(),
    // A caller's own id could carry anything into the log.
    requestIdHeader: false,
    trustProxy: false,
    exposeHeadRoutes: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: refuseAddress,
    requestTimeout: 60_000,
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as FastifyInstance;
  const validators = schemaValidators();
  app.setValidatorCompiler(isLazy ? validatorsWhenUsed(validators) : validators);
  app.addSchema(ErrorReply);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    reply.header("cache-control", "no-store");
    reply.header("x-content-type-options", "nosniff");
  });
  // Node answers an unknown expectation without a body.
  app.server.on("checkExpectation", (_request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.stringify(
      errorBody(
        "expectation_failed",
        "the request expects something that this server does not know",
      ),
    );
    const headers = {
      "content-type": "application/json; charset=utf-8",
      "content-length": Buffer.byteLength(body),
    };
    response.writeHead(417, { ...headers, "cache-control": "no-store" }).end(body);
  });
  await app.register(errorReplies);
  await app.register(routeDeclarations);
  return app;
}

/** What the router refuses never reaches the error handler. */
function refuseAddress(_error: FastifyError, _request: FastifyRequest, reply: FastifyReply): void {
  void reply.code(404).send(errorBody("not_found", "the address is not valid"));
}
