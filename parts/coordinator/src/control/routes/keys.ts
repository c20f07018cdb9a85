/** Platform keys of all users. */
import type { FastifyInstance } from "fastify";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { instant } from "../../http/decisions/job-replies.ts";
import { renewKey, revokeKey } from "../../identity/key-store.ts";
import { answerOperator, lookOnRecord } from "../answer-operator.ts";
import { begunId } from "../begun-id.ts";
import type { UserViews } from "../user-views.ts";

export type OperatorKeyDeps = {
  read: ReadHandle;
  users: Pick<UserViews, "keys">;
  commit: GroupCommit;
  now: () => number;
};

const DAY_S = 86_400;

export async function operatorKeyRoutes(
  app: FastifyInstance,
  { read, users, commit, now }: OperatorKeyDeps,
): Promise<void> {
  answerOperator(
    app,
    "key-list",
    { action: "key.list", audit: { event: "admin.control" } },
    async ({ username }, request) => ({
      keys: await lookOnRecord(request, "key-list", () => users.keys(username ?? null)),
    }),
  );

  answerOperator(
    app,
    "key-renew",
    { action: "key.renew", audit: { event: "key.renew" } },
    async ({ key: idOrStart, days }, request) => {
      const key = begunId(read, "platform_keys", idOrStart);
      const seconds = days * DAY_S;
      const expiresAt = now() + seconds * 1_000;
      await request.audit.operation(
        {
          type: "key.renew",
          object: { kind: "key", id: key },
          detail: { expires_in_s: seconds },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            renewKey(db, key, expiresAt);
            completeIn(db);
          }),
      );
      return { key, expiresAt: instant(expiresAt) };
    },
  );

  answerOperator(
    app,
    "key-revoke",
    { action: "key.revoke", audit: { event: "key.revoke" } },
    async ({ key: idOrStart }, request) => {
      const key = begunId(read, "platform_keys", idOrStart);
      await request.audit.operation(
        { type: "key.revoke", object: { kind: "key", id: key }, detail: {} },
        ({ completeIn }) =>
          commit.run((db) => {
            revokeKey(db, key, now());
            completeIn(db);
          }),
      );
      return { key };
    },
  );
}
