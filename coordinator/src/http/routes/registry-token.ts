/** The token realm of the OCI registry: a one-use password in, a short ES256 token to pull one repository out. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { RegistryTokenQuery, RegistryTokenReply } from "@resontech/contracts/http-identity";
import type { RegistryPasswords } from "../../identity/registry-passwords.ts";
import type { RegistryTokens } from "../../identity/registry-tokens.ts";
import { responses } from "../responses.ts";

export type RegistryTokenRoutesDeps = { passwords: RegistryPasswords; tokens: RegistryTokens };

export const registryTokenRoutes: FastifyPluginAsyncTypebox<RegistryTokenRoutesDeps> = async (app, { passwords, tokens }) => {
  app.get(
    "/token",
    {
      schema: {
        summary: "A token to pull from the registry",
        tags: ["registry"],
        querystring: RegistryTokenQuery,
        response: responses(200, RegistryTokenReply),
      },
      config: {
        access: { public: "a one-use password in Basic authorization is the credential" },
        audit: { event: "key.registry.token" },
      },
    },
    async (request, reply) => {
      const login = basicLogin(request.headers.authorization);
      const token =
        login === null
          ? null
          : await passwords.use(login.username, login.password, async (grant) => {
              await request.audit.fact({
                type: "key.registry.token",
                object: { kind: "node", id: grant.audit.node ?? "operator" },
                detail: grant.audit,
              });
              return tokens.issue(grant);
            });
      if (token !== null) return token;
      reply.header("www-authenticate", 'Basic realm="registry"');
      return request.refuseCredential("registry_login_invalid", "the user name or the one-use password is not valid");
    },
  );
};

function basicLogin(header: string | undefined): { username: string; password: string } | null {
  const encoded = /^Basic ([A-Za-z0-9+/=]{1,512})$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const colon = text.indexOf(":");
  return colon < 0 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
