/** Users, as the operator makes, sees and changes them. Each secret is answered once. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Instant } from "../http/http-common.ts";
import { Nullable } from "../nullable.ts";
import { KeyFacts } from "./operator-keys.ts";
import { AskedName, Nothing, OfUser, operatorRoute } from "./operator-route.ts";

/** Duties that somebody can be made with at the host. */
export const FIRST_DUTIES = ["platform-admin", "compliance-auditor"] as const;
export type FirstDuty = (typeof FIRST_DUTIES)[number];

const Count = Type.Integer({ minimum: 0 });

export const UserFacts = Type.Object(
  {
    userId: Type.String(),
    username: Type.String(),
    isAdmin: Type.Boolean(),
    isDisabled: Type.Boolean(),
    /** Null of somebody with a duty alone, who has no project of the own. */
    bucket: Nullable(Type.String()),
    quotaBytes: Nullable(Count),
    livingKeys: Count,
    livingJobs: Count,
    createdAt: Instant,
  },
  closed,
);
export type UserFacts = Static<typeof UserFacts>;

/** Rows about a user. @property stays why they are kept, by the pseudonym alone; null of those that go */
export const TraceFacts = Type.Object(
  { part: Type.String(), count: Count, stays: Nullable(Type.String()) },
  closed,
);
export type TraceFacts = Static<typeof TraceFacts>;

export const USER_ROUTES = {
  /** Makes user, default project, bucket, S3 key pair and one platform key of 30 days. */
  "add-user": operatorRoute({
    ...{ method: "POST", path: "/api/operator/users" },
    body: OfUser,
    answer: Type.Object(
      {
        userId: Type.String(),
        username: Type.String(),
        project: Type.String(),
        bucketAlias: Type.String(),
        platformKey: Type.String(),
        accessKeyId: Type.String(),
        secretAccessKey: Type.String(),
      },
      closed,
    ),
  }),
  /** Makes somebody with a duty on the whole appliance: no project, no bucket, no key pair and no platform key. */
  "add-person": operatorRoute({
    ...{ method: "POST", path: "/api/operator/people" },
    body: Type.Object({ username: AskedName, duty: Type.Enum([...FIRST_DUTIES]) }, closed),
    answer: Type.Object(
      { userId: Type.String(), username: Type.String(), duty: Type.Enum([...FIRST_DUTIES]) },
      closed,
    ),
  }),
  "user-list": operatorRoute({
    ...{ method: "GET", path: "/api/operator/users" },
    answer: Type.Object({ users: Type.Array(UserFacts) }, closed),
  }),
  "user-show": operatorRoute({
    ...{ method: "GET", path: "/api/operator/users/:username", params: OfUser },
    answer: Type.Object({ user: UserFacts, keys: Type.Array(KeyFacts) }, closed),
  }),
  /** A password for the next sign-in, which must be changed there. */
  "user-password": operatorRoute({
    ...{ method: "POST", path: "/api/operator/users/:username/password", params: OfUser },
    answer: Type.Object({ username: Type.String(), password: Type.String() }, closed),
  }),
  /** Every passkey and code generator is void; the person sets up a new one at the next sign-in. */
  "user-second-factor": operatorRoute({
    ...{ method: "DELETE", path: "/api/operator/users/:username/second-factor", params: OfUser },
    answer: Nothing,
  }),
  /** A quota below what is stored removes nothing; it refuses what comes. */
  "user-quota": operatorRoute({
    ...{ method: "PUT", path: "/api/operator/users/:username/quota", params: OfUser },
    body: Type.Object(
      { bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) },
      closed,
    ),
    answer: Type.Object({ username: Type.String(), bytes: Count }, closed),
  }),
  /** Whether files that a user's jobs write at their sites may leave these. */
  "site-files": operatorRoute({
    ...{ method: "PUT", path: "/api/operator/users/:username/site-files", params: OfUser },
    body: Type.Object({ allowed: Type.Boolean() }, closed),
    answer: Type.Object({ project: Type.String(), allowed: Type.Boolean() }, closed),
  }),
  /** Platform keys are refused, and the bucket's key pair is taken away. Jobs that run go on. */
  "user-disable": operatorRoute({
    ...{ method: "POST", path: "/api/operator/users/:username/disable", params: OfUser },
    answer: Type.Object({ username: Type.String(), livingJobs: Count }, closed),
  }),
  /** Platform keys that live are good again; the bucket gets a new key pair. */
  "user-enable": operatorRoute({
    ...{ method: "POST", path: "/api/operator/users/:username/enable", params: OfUser },
    answer: Type.Object(
      {
        username: Type.String(),
        /** Null where a duty leaves the person no data, or there is no bucket. */
        accessKeyId: Nullable(Type.String()),
        secretAccessKey: Nullable(Type.String()),
      },
      closed,
    ),
  }),
  /** What is known of a user by name, and what of it stays once the user is forgotten. */
  "user-traces": operatorRoute({
    ...{ method: "GET", path: "/api/operator/users/:username/traces", params: OfUser },
    answer: Type.Object(
      {
        userId: Type.String(),
        username: Type.String(),
        livingJobs: Count,
        /** At Keycloak. */
        hasAccount: Type.Boolean(),
        /** The connected directory that knows the person, whatever is forgotten here. */
        directory: Nullable(Type.String()),
        /** Of the own first project, and named after the user. */
        bucket: Nullable(
          Type.Object({ name: Type.String(), usedBytes: Count, objects: Count }, closed),
        ),
        rows: Type.Array(TraceFacts),
      },
      closed,
    ),
  }),
  /** The account at Keycloak, the name and what is personal go; with the bucket all that lies in it. The user must be disabled. */
  "user-forget": operatorRoute({
    ...{ method: "POST", path: "/api/operator/users/:username/forget", params: OfUser },
    body: Type.Object({ withBucket: Type.Boolean() }, closed),
    answer: Type.Object(
      {
        userId: Type.String(),
        /** Under which the user is listed from now on. */
        username: Type.String(),
        /** One that still has the old name; null where none has. */
        bucket: Nullable(Type.String()),
        directory: Nullable(Type.String()),
        /** What stays, with the reason. */
        rows: Type.Array(TraceFacts),
      },
      closed,
    ),
  }),
  /** Makes an administrator of a user without two people; a finding tells of it until a second person knows. */
  "restore-administrator": operatorRoute({
    ...{ method: "POST", path: "/api/operator/users/:username/administrator", params: OfUser },
    answer: Nothing,
  }),
} as const;
