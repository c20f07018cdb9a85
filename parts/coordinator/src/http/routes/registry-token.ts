/** The token realm of the OCI registry: a password in, a short ES256 token to pull one repository out. Its refusals have the form that OCI clients read. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  RegistryErrorReply,
  RegistryTokenQuery,
  RegistryTokenReply,
} from "@resontech/contracts/http-identity";
import type { PullGrant, RegistryPasswords } from "../../identity/registry-passwords.ts";
import type { RegistryTokens } from "../../identity/registry-tokens.ts";
import type { Caller } from "../../authorization/caller.ts";
import { authorize } from "../authorization.ts";
import { asApiError } from "../error-replies.ts";

export type RegistryTokenRoutesDeps = { passwords: RegistryPasswords; tokens: RegistryTokens };

export const registryTokenRoutes: FastifyPluginAsyncTypebox<RegistryTokenRoutesDeps> = async (
  app,
  { passwords, tokens },
) => {
  app.get(
    "/token",
    {
      schema: {
        summary: "A token to pull from the registry",
        tags: ["registry"],
        querystring: RegistryTokenQuery,
        response: { 200: RegistryTokenReply, "4xx": RegistryErrorReply, "5xx": RegistryErrorReply },
      },
      errorHandler: (error, request, reply) => {
        const known = asApiError(error);
        if (known === null || known.status >= 500)
          request.log.error({ err: error }, "no token was issued");
        const status = known?.status ?? 500;
        const message = known?.message ?? `the request failed; its id is ${request.id}`;
        void reply
          .code(status)
          .send({ errors: [{ code: OCI_CODES.get(status) ?? "UNKNOWN", message }] });
      },
      config: {
        access: {
          action: "registry.pull",
          credential: "a one-use password in Basic authorization",
        },
        audit: { event: "key.registry.token" },
      },
    },
    async (request, reply) => {
      const login = basicLogin(request.headers.authorization);
      const token =
        login === null
          ? null
          : await passwords.use(login.username, login.password, async (grant) => {
              request.caller = holderOf(grant);
              await authorize(request, "registry.pull", "every");
              await request.audit.fact({
                type: "key.registry.token",
                object: { kind: "node", id: grant.audit.node ?? "operator" },
                detail: grant.audit,
              });
              return tokens.issue(grant);
            });
      if (token !== null) return token;
      reply.header("www-authenticate", 'Basic realm="registry"');
      const why = "the user name or the password is not valid, or no longer";
      const { scope = "" } = request.query;
      const isPush = [scope]
        .flat()
        .some((one) => /:(?:[^:]*,)?(?:push|delete|\*)(?:,|$)/.test(one));
      return request.refuseCredential(
        "registry_login_invalid",
        isPush ? `this registry is read-only, nobody can push; and ${why}` : why,
      );
    },
  );
};

/** https://github.com/opencontainers/distribution-spec: codes by status. */
const OCI_CODES: ReadonlyMap<number, string> = new Map([
  [400, "UNSUPPORTED"],
  [401, "UNAUTHORIZED"],
  [403, "DENIED"],
  [422, "UNSUPPORTED"],
  [429, "TOOMANYREQUESTS"],
  [503, "UNAVAILABLE"],
]);

/** Answers for whom the password was made: a node that holds a member, or whoever asked on the host. */
function holderOf({ audit: { node } }: PullGrant): Caller {
  return node === undefined
    ? { kind: "operator", person: null }
    : { kind: "node", node, by: "pull-password" };
}

function basicLogin(header: string | undefined): { username: string; password: string } | null {
  const encoded = /^Basic ([A-Za-z0-9+/=]{1,512})$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
