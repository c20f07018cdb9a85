/** Service accounts of a project: programs that sign in at the identity provider by a key of their own. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import {
  CreateServiceAccountBody,
  ServiceAccountReply,
} from "@resontech/contracts/http-service-accounts";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { Action } from "../../authorization/actions.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { projectName } from "../../identity/project-store.ts";
import { ADOPTION_MS } from "../../identity/service-accounts/decisions/account-standing.ts";
import {
  accountsOfProject,
  findAccount,
  isAccount,
  type ServiceAccount,
} from "../../identity/service-accounts/service-account-store.ts";
import { authorize, callerOfRequest, noteHiddenRow } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";
import type { SignInParts } from "./sign-in.ts";

/** @property identity null where the appliance has no identity provider: there is nobody who could know a program */
export type ServiceAccountRoutesDeps = {
  read: ReadHandle;
  identity: Pick<SignInParts, "serviceAccounts"> | null;
};

const tags = ["service accounts"];
const closed = { additionalProperties: false } as const;
const Params = Type.Object({ id: IdParam }, closed);
const AccountParams = Type.Object({ id: IdParam, account: IdParam }, closed);
const S = 1_000;

export const serviceAccountRoutes: FastifyPluginAsyncTypebox<ServiceAccountRoutesDeps> = async (
  app,
  { read, identity },
) => {
  app.get(
    "/api/projects/:id/service-accounts",
    {
      schema: {
        summary: "The service accounts of a project, without their keys",
        ...{ tags, params: Params, response: responses(200, Type.Array(ServiceAccountReply)) },
      },
      config: {
        access: { action: "service-account.list" },
        audit: { event: "iam.service-account.list" },
      },
    },
    async (request) => {
      const { id } = request.params;
      await authorizeIn(request, "service-account.list", id);
      const accounts = accountsOfProject(read, id);
      await request.audit.fact({
        type: "iam.service-account.list",
        object: { kind: "project", id },
        detail: { count: accounts.length },
      });
      return accounts.map(accountReply);
    },
  );

  app.post(
    "/api/projects/:id/service-accounts",
    {
      schema: {
        summary: "Make a service account for a public key, good for 90 days",
        ...{ tags, params: Params, body: CreateServiceAccountBody },
        response: responses(201, ServiceAccountReply),
      },
      config: {
        access: { action: "service-account.create" },
        audit: { event: "iam.service-account.create" },
      },
    },
    async (request, reply) => {
      const { id: projectId } = request.params;
      await authorizeIn(request, "service-account.create", projectId);
      const { serviceAccounts } = required();
      const planned = serviceAccounts.plan({
        ...{ ...request.body, projectId },
        createdBy: callerOfRequest(request).userId,
      });
      const { id, createdAt, expiresAt } = planned;
      await request.audit.operation(
        {
          type: "iam.service-account.create",
          object: { kind: "user", id },
          detail: { project: projectId, expires_in_s: (expiresAt - createdAt) / S },
        },
        (operation) => serviceAccounts.create(planned, operation.completeIn),
      );
      return reply.code(201).send(accountReply(requireAccount(projectId, id)));
    },
  );

  app.delete(
    "/api/projects/:id/service-accounts/:account",
    {
      schema: {
        summary: "Revoke a service account; its tokens are refused at once",
        ...{ tags, params: AccountParams, response: responses(200, ServiceAccountReply) },
      },
      config: {
        access: { action: "service-account.revoke" },
        audit: { event: "iam.service-account.revoke" },
      },
    },
    async (request) => {
      const { id: projectId, account } = request.params;
      await authorizeIn(request, "service-account.revoke", projectId);
      const { serviceAccounts } = required();
      // What was never there leaves no operation behind.
      const { id } = accountAsked(request, projectId, account);
      await request.audit.operation(
        {
          type: "iam.service-account.revoke",
          object: { kind: "user", id },
          detail: { project: projectId },
        },
        (operation) => serviceAccounts.revoke(id, operation.completeIn),
      );
      return accountReply(requireAccount(projectId, id));
    },
  );

  app.post(
    "/api/projects/:id/service-accounts/:account/adopt",
    {
      schema: {
        summary: "Answer for a service account, in place of who made it",
        ...{ tags, params: AccountParams, response: responses(200, ServiceAccountReply) },
      },
      config: {
        access: { action: "service-account.adopt" },
        audit: { event: "iam.service-account.adopt" },
      },
    },
    async (request) => {
      const { id: projectId, account } = request.params;
      await authorizeIn(request, "service-account.adopt", projectId);
      const { serviceAccounts } = required();
      const found = accountAsked(request, projectId, account);
      const { userId } = callerOfRequest(request);
      await request.audit.operation(
        {
          type: "iam.service-account.adopt",
          object: { kind: "user", id: found.id },
          detail: { project: projectId },
        },
        (operation) => serviceAccounts.adopt(found, userId, operation.completeIn),
      );
      return accountReply(requireAccount(projectId, found.id));
    },
  );

  async function authorizeIn(
    request: FastifyRequest,
    action: Extract<Action, `service-account.${string}`>,
    projectId: string,
  ): Promise<void> {
    await authorize(request, action, projectName(read, projectId) === null ? null : { projectId });
  }

  /** @throws ApiError not_found, also for one of another project, which is on record */
  function accountAsked(request: FastifyRequest, projectId: string, id: string): ServiceAccount {
    if (findAccount(read, projectId, id) === null && isAccount(read, id))
      noteHiddenRow(request, "not_found", "user");
    return requireAccount(projectId, id);
  }

  /** @throws ApiError not_found */
  function requireAccount(projectId: string, id: string): ServiceAccount {
    const account = findAccount(read, projectId, id);
    if (account === null) throw new ApiError("not_found", "there is no such service account");
    return account;
  }

  function required() {
    if (identity === null)
      throw new ApiError("identity_unavailable", "this appliance has no identity provider");
    return identity;
  }
};

function accountReply({
  createdAt,
  expiresAt,
  lastUsedAt,
  revokedAt,
  orphanedAt,
  scopes,
  ...account
}: ServiceAccount): ServiceAccountReply {
  return {
    adoptBy: orphanedAt === null ? null : instant(orphanedAt + ADOPTION_MS),
    ...account,
    scopes: [...scopes],
    ...{ createdAt: instant(createdAt), expiresAt: instant(expiresAt) },
    lastUsedAt: lastUsedAt === null ? null : instant(lastUsedAt),
    revokedAt: revokedAt === null ? null : instant(revokedAt),
  };
}
