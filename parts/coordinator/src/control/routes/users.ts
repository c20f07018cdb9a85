/** Users: made here alone, shown, with what their buckets may hold, and forgotten. */
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../api-error.ts";
import { addPerson, addUser, type AddUserDeps } from "../../identity/add-user.ts";
import { findUser, setProjectQuota } from "../../identity/bucket-store.ts";
import { findDefaultProject, setSiteFiles } from "../../identity/project-store.ts";
import type { AccountLinks } from "../../identity/accounts/account-links.ts";
import { answerOperator, lookOnRecord } from "../answer-operator.ts";
import { forgetUser, type ForgetUserDeps, tracesOf } from "../forget-user.ts";
import { operatorOf } from "../operator-authentication.ts";
import type { UserViews } from "../user-views.ts";

export type OperatorUserDeps = Omit<AddUserDeps, "caller"> &
  ForgetUserDeps & {
    users: Pick<UserViews, "list" | "of" | "keys">;
    people: { links: Pick<AccountLinks, "linkAll"> } | null;
  };

const MADE = { event: "iam.user.create", loggedBy: "identity/create-user.ts" } as const;

export async function operatorUserRoutes(
  app: FastifyInstance,
  deps: OperatorUserDeps,
): Promise<void> {
  const { read, commit, users } = deps;

  answerOperator(
    app,
    "add-user",
    { action: "user.create", audit: MADE },
    async ({ username }, request) => {
      const added = await addUser({ ...deps, caller: operatorOf(request) }, username);
      await deps.people?.links.linkAll();
      return {
        ...{ userId: added.userId, username, project: added.projectId },
        ...{ bucketAlias: added.bucket, platformKey: added.platformKey },
        ...{ accessKeyId: added.accessKeyId, secretAccessKey: added.secretAccessKey },
      };
    },
  );

  answerOperator(
    app,
    "add-person",
    { action: "user.create", audit: MADE },
    async ({ username, duty }, request) => {
      const userId = await addPerson({ ...deps, caller: operatorOf(request) }, username, duty);
      await deps.people?.links.linkAll();
      return { userId, username, duty };
    },
  );

  answerOperator(
    app,
    "user-list",
    { action: "user.list", audit: { event: "admin.control" } },
    async (_, request) => ({
      users: await lookOnRecord(request, "user-list", () => users.list()),
    }),
  );

  answerOperator(
    app,
    "user-show",
    { action: "user.read", audit: { event: "admin.control" } },
    async ({ username }, request) =>
      await lookOnRecord(request, "user-show", () => ({
        ...{ user: users.of(username), keys: users.keys(username) },
      })),
  );

  answerOperator(
    app,
    "user-quota",
    { action: "user.quota", audit: { event: "iam.user.change" } },
    async ({ username, bytes }, request) => {
      const { userId } = users.of(username);
      const project = findDefaultProject(read, userId);
      if (project === null)
        throw new ApiError("bucket_missing", `${username} has a duty alone, and no bucket`);
      await request.audit.operation(
        {
          type: "iam.user.change",
          object: { kind: "user", id: userId },
          detail: { change: "quota", quota_bytes: bytes },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            setProjectQuota(db, project, bytes);
            completeIn(db);
          }),
      );
      return { username, bytes };
    },
  );

  answerOperator(
    app,
    "site-files",
    { action: "project.site-files", audit: { event: "admin.control" } },
    async ({ username, allowed }, request) => {
      const user = findUser(read, username);
      const project = user === null ? null : findDefaultProject(read, user.id);
      if (project === null) throw new ApiError("not_found", `there is no user ${username}`);
      await request.audit.operation(
        {
          type: "admin.control",
          object: { kind: "appliance", id: "appliance" },
          detail: { verb: "site-files", project, allowed },
        },
        () => commit.run((db) => setSiteFiles(db, project, allowed)),
      );
      return { project, allowed };
    },
  );

  answerOperator(
    app,
    "user-traces",
    { action: "user.read", audit: { event: "admin.control" } },
    async ({ username }, request) => {
      const traces = await tracesOf(deps, username);
      return await lookOnRecord(request, "user-traces", () => traces);
    },
  );

  answerOperator(
    app,
    "user-forget",
    { action: "user.disable", audit: { event: "iam.user.change" } },
    async (asked, request) => await forgetUser(deps, asked, request.audit),
  );
}
