import { randomBytes } from "node:crypto";
import type { FirstDuty } from "@resontech/contracts/operator-users";
import type { OperationDeps } from "../audited-operation.ts";
import type { OperatorCaller, ServiceCaller } from "../authorization/caller.ts";
import { insertPerson, insertUser } from "./bucket-store.ts";
import { bucketNameFor } from "./decisions/user-names.ts";
import { identityOperation } from "./identity-operation.ts";
import type { Source } from "./decisions/group-names.ts";
import { linkPerson, linkSource } from "./people-store.ts";
import { setRoles } from "./role-holders.ts";

export type CreateUserDeps = OperationDeps & {
  quotaBytes: number;
  now: () => number;
  caller: OperatorCaller | ServiceCaller;
};

/** Rows of a user with default project and a bucket that the engine has yet to make. Answers with the id. @param subject Keycloak's id, where it knows the user @param source where the person comes from, if not from here */
export async function createUser(
  deps: CreateUserDeps,
  {
    username,
    subject,
    source = null,
  }: { username: string; subject: string | null; source?: Source | null },
): Promise<string> {
  const userId = `u_${randomBytes(12).toString("hex")}`;
  const object = { kind: "user", id: userId } as const;
  await identityOperation(
    deps,
    "iam.user.create",
    object,
    { admin: false },
    { username },
    (close) =>
      deps.commit.run((db) => {
        insertUser(db, {
          ...{ userId, username },
          projectId: `p_${randomBytes(12).toString("hex")}`,
          bucket: bucketNameFor(username, randomBytes(4).toString("hex")),
          ...{ quotaBytes: deps.quotaBytes, now: deps.now() },
        });
        if (subject !== null) linkPerson(db, userId, subject);
        if (source !== null) linkSource(db, userId, source);
        close(db);
      }),
  );
  return userId;
}

/** Rows of somebody with a duty on the whole appliance: the duty with the person, and nothing to read data by. Answers with the id. */
export async function createPerson(
  deps: CreateUserDeps,
  { username, duty }: { username: string; duty: FirstDuty },
): Promise<string> {
  const userId = `u_${randomBytes(12).toString("hex")}`;
  await identityOperation(
    deps,
    "iam.user.create",
    { kind: "user", id: userId },
    { admin: duty === "platform-admin", duty },
    { username },
    (close) =>
      deps.commit.run((db) => {
        insertPerson(db, { userId, username, now: deps.now() });
        setRoles(db, userId, [duty]);
        close(db);
      }),
  );
  return userId;
}
