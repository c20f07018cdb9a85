/** Who signs in, and with what: passwords, second factors, whether somebody is let in at all. Each change is on record before it happens. */
import { KeycloakUnreachableError } from "@resontech/keycloak/address";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ApiError } from "../../api-error.ts";
import type { RoleChanges } from "../../approvals/role-changes.ts";
import type { OpenOperation } from "../../audited-operation.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";
import type { AccountLinks } from "../../identity/accounts/account-links.ts";
import type { BucketKeys } from "../../identity/bucket-keys.ts";
import { maySeeData } from "../../identity/data-rights.ts";
import { findDefaultProject } from "../../identity/project-store.ts";
import type { Sessions } from "../../identity/sign-in/sessions.ts";
import { setDisabled } from "../../identity/user-access.ts";
import { answerOperator } from "../answer-operator.ts";
import type { UserViews } from "../user-views.ts";

export type OperatorPeopleDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  now: () => number;
  users: Pick<UserViews, "of">;
  bucketKeys: Pick<BucketKeys, "replace" | "withdrawAll">;
  /** Null where the appliance has no identity provider. */
  people: {
    links: Pick<AccountLinks, "firstPassword" | "resetSecondFactor" | "setEnabled">;
    sessions: Pick<Sessions, "endAll">;
    roleChanges: Pick<RoleChanges, "inTurn" | "requireAdministratorBeside" | "restore">;
  } | null;
};

export async function operatorPeopleRoutes(
  app: FastifyInstance,
  { read, commit, now, users, bucketKeys, people }: OperatorPeopleDeps,
): Promise<void> {
  answerOperator(
    app,
    "user-password",
    { action: "user.password", audit: { event: "iam.user.change" } },
    async ({ username }, request) => {
      const { userId } = users.of(username);
      const { links } = required();
      const password = await changeUser(request, userId, { change: "password" }, () =>
        links.firstPassword(userId),
      );
      return { username, password };
    },
  );

  /** At the host: what two people do through a request otherwise. */
  answerOperator(
    app,
    "user-second-factor",
    { action: "user.password", audit: { event: "iam.user.change" } },
    async ({ username }, request) => {
      const { userId } = users.of(username);
      const { links, sessions } = required();
      await changeUser(request, userId, { change: "second-factor" }, async () => {
        await links.resetSecondFactor(userId);
        await sessions.endAll({ userId }, "revoked");
      });
      return {};
    },
  );

  /** Platform keys are refused before the pairs for buckets are taken away: a crash between leaves the user with less, never with more. */
  answerOperator(
    app,
    "user-disable",
    { action: "user.disable", audit: { event: "iam.user.change" } },
    async ({ username }, request) => {
      const { userId, livingJobs } = users.of(username);
      // No other change of roles comes between the check and the row.
      const inTurn = <T>(work: () => Promise<T>) => people?.roleChanges.inTurn(work) ?? work();
      await changeUser(request, userId, { change: "disabled" }, async ({ completeIn }) => {
        await inTurn(async () => {
          people?.roleChanges.requireAdministratorBeside(userId);
          await commit.run((db) => setDisabled(db, userId, now()));
        });
        await people?.sessions.endAll({ userId }, "disabled");
        // Nobody waits for Keycloak to be refused here: our own row already does that.
        await people?.links.setEnabled(userId, false).catch(ignoreAway);
        await bucketKeys.withdrawAll(userId, completeIn);
      });
      return { username, livingJobs };
    },
  );

  /** Refused where nobody had disabled the user: a new key pair would void the one in use. */
  answerOperator(
    app,
    "user-enable",
    { action: "user.enable", audit: { event: "iam.user.change" } },
    async ({ username }, request) => {
      const { userId, bucket, isDisabled } = users.of(username);
      if (!isDisabled) throw new ApiError("user_enabled", `the user ${username} is not disabled`);
      const projectId = findDefaultProject(read, userId);
      const getsPair =
        bucket !== null && projectId !== null && maySeeData(read, { userId, projectId });
      const pair = await changeUser(request, userId, { change: "enabled" }, async (operation) => {
        const settle = (db: WriteHandle) => {
          setDisabled(db, userId, null);
          operation.completeIn(db);
        };
        if (getsPair) return await bucketKeys.replace(bucket, userId, settle);
        await commit.run(settle);
        return { accessKeyId: null, secretAccessKey: null };
      });
      await people?.links.setEnabled(userId, true);
      return { username, ...pair };
    },
  );

  /** At the host: what two people do through a request otherwise, for an appliance whose administrators are gone. */
  answerOperator(
    app,
    "restore-administrator",
    { action: "user.password", audit: { event: "iam.role.change" } },
    async ({ username }, request) => {
      const { userId } = users.of(username);
      await request.audit.operation(
        {
          type: "iam.role.change",
          object: { kind: "user", id: userId },
          detail: { role: "platform-admin", change: "grant" },
        },
        async ({ completeIn }) => await required().roleChanges.restore(userId, completeIn),
      );
      return {};
    },
  );

  /** @throws ApiError identity_unavailable */
  function required(): NonNullable<typeof people> {
    if (people === null)
      throw new ApiError("identity_unavailable", "this appliance has no identity provider");
    return people;
  }
}

async function changeUser<T>(
  request: FastifyRequest,
  userId: string,
  detail: EventDetail<"iam.user.change">,
  effect: (operation: OpenOperation<"iam.user.change">) => Promise<T>,
): Promise<T> {
  return await request.audit.operation(
    { type: "iam.user.change", object: { kind: "user", id: userId }, detail },
    effect,
  );
}

function ignoreAway(error: unknown): void {
  if (!(error instanceof KeycloakUnreachableError)) throw error;
}
