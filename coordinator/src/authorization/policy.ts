/**
 * The whole policy, as one table: a row for each action, a column for each kind of caller. A cell says how far the caller
 * reaches; a cell that is not there reaches nothing. A new role, action or topic is a change of this file and of no other here.
 * What each row means in words is in README.md; `test/authorization/matrix.test.ts` states every cell a second time.
 */
import type { AgentVerb } from "@resontech/contracts/agent-protocol";
import type { ErrorCode } from "@resontech/contracts/error-catalogue";
import type { KeyScope } from "@resontech/contracts/http-identity";
import type { PolicyId } from "@resontech/contracts/policies";
import type { FrontQuestion } from "@resontech/contracts/s3-front-protocol";

/** Roles that a person holds on the whole appliance, and those that are held in a project: IDENTITY "Roles". */
export const APPLIANCE_ROLES = [
  "platform-admin",
  "security-officer",
  "compliance-auditor",
  "data-steward",
  "break-glass",
] as const;
export const PROJECT_ROLES = ["project-lead", "researcher", "viewer", "service-account"] as const;
export type ApplianceRole = (typeof APPLIANCE_ROLES)[number];
export type ProjectRole = (typeof PROJECT_ROLES)[number];

/** Processes of the appliance; `coordinator` is this one, acting by itself. */
export const SERVICES = ["coordinator", "s3-front"] as const;
export type Service = (typeof SERVICES)[number];

/** What a node has shown of itself: its certificate on the bus, a one-use token to join, or a password to pull one image. */
export const NODE_PROOFS = ["certificate", "join-token", "pull-password"] as const;
export type NodeProof = (typeof NODE_PROOFS)[number];

/** What an action is done to, and the attributes of a row by which somebody's reach is told. `appliance` has no rows. */
export const RESOURCES = {
  appliance: [],
  job: ["projectId", "userId"],
  project: ["userId"],
  bucket: ["userId"],
  key: ["userId"],
  user: [],
  log: ["userId"],
  node: ["node"],
  member: ["node"],
} as const satisfies Record<string, readonly ("userId" | "projectId" | "node")[]>;
export type ResourceKind = keyof typeof RESOURCES;

/** `project`: rows of the caller's projects. `own`: rows of the user or node itself. `nobody`: the caller may ask, and reaches no row. */
export type Reach = "all" | "project" | "own" | "nobody";
/** A kind without the attribute can't be reached by it. */
type ReachOn<K extends ResourceKind> =
  | "all"
  | "nobody"
  | ("projectId" extends (typeof RESOURCES)[K][number] ? "project" : never)
  | (Extract<"userId" | "node", (typeof RESOURCES)[K][number]> extends never ? never : "own");

/** Of a platform key that has the scope; with `admin` of an administrator's alone. */
export type KeyCell<R extends Reach = Reach> = { scope: KeyScope; admin?: true; reach: R };
/** What a caller is told of a row that is not there or not in reach: one answer for both. */
export type OutOfReach = { code: ErrorCode; message: string; policies: readonly PolicyId[] };

type RowOn<K extends ResourceKind> = {
  on: K;
  /** The first that the key satisfies counts. */
  key?: readonly KeyCell<ReachOn<K>>[];
  session?: Partial<Record<ApplianceRole | ProjectRole, ReachOn<K>>>;
  service?: Partial<Record<Service, ReachOn<K>>>;
  node?: { by: NodeProof; reach: ReachOn<K> };
  operator?: ReachOn<K>;
  /** What is said instead of the kind's own {@link OUT_OF_REACH}. */
  outOfReach?: OutOfReach;
  /** Named in the audit event of what was allowed, by whether the reach was everything. */
  allowedBy?: { all: PolicyId; part: PolicyId };
};
export type PolicyRow = { [K in ResourceKind]: RowOn<K> }[ResourceKind];

const hidden = (message: string): OutOfReach => ({ code: "not_found", message, policies: [] });

export const OUT_OF_REACH: Record<ResourceKind, OutOfReach> = {
  appliance: {
    code: "role_required",
    message: "this caller may not do this",
    policies: ["no-grant"],
  },
  job: hidden("there is no such task"),
  project: hidden("there is no such project"),
  bucket: { code: "bucket_missing", message: "this user has no bucket yet", policies: [] },
  key: hidden("there is no such key"),
  user: hidden("there is no such user"),
  log: hidden("there is no such entry"),
  node: hidden("there is no such node"),
  member: hidden("there is no such member"),
};

const AGENT = { by: "certificate", reach: "own" } as const;
const OF_AGENT = { on: "node", node: AGENT } as const;
const OF_FRONT = { on: "appliance", service: { "s3-front": "all" } } as const;

const OWN_JOB = { "project-lead": "project", researcher: "own", "service-account": "own" } as const;
const JOB_STATES = { "platform-admin": "all", viewer: "project" } as const;
const OWN_FILES = { "project-lead": "own", researcher: "own" } as const;
const READS_LOG = {
  "security-officer": "all",
  "compliance-auditor": "all",
  "platform-admin": "own",
  "project-lead": "own",
  researcher: "own",
} as const;

export const POLICY = {
  // ── Jobs: a key works in its project ──────────────────────────────────────────────────────────────────────────────────
  "job.submit": { on: "job", key: [{ scope: "jobs:write", reach: "project" }], session: OWN_JOB },
  /** A task is made of objects of this bucket. */
  "job.inputs.read": {
    on: "bucket",
    key: [{ scope: "jobs:write", reach: "own" }],
    session: OWN_FILES,
  },
  "job.list": { on: "job", key: [{ scope: "jobs:read", reach: "project" }], session: OWN_JOB },
  "job.read": { on: "job", key: [{ scope: "jobs:read", reach: "project" }], session: OWN_JOB },
  "job.cancel": {
    on: "job",
    key: [{ scope: "jobs:write", reach: "project" }],
    session: OWN_JOB,
    operator: "all",
  },
  "job.outputs.list": {
    on: "job",
    key: [{ scope: "jobs:read", reach: "project" }],
    session: OWN_JOB,
  },
  "job.outputs.remove": {
    on: "job",
    key: [{ scope: "jobs:write", reach: "project" }],
    session: OWN_JOB,
  },
  /** States alone, nothing that a user wrote into a job: who runs the box is no reader of the data. */
  "job.state.list": { on: "job", session: JOB_STATES, operator: "all" },
  "job.state.read": { on: "job", session: JOB_STATES, operator: "all" },

  // ── Storage: a bucket is its user's ───────────────────────────────────────────────────────────────────────────────────
  "bucket.read": { on: "bucket", key: [{ scope: "storage", reach: "own" }], session: OWN_FILES },
  "bucket.write": { on: "bucket", key: [{ scope: "storage", reach: "own" }], session: OWN_FILES },
  "bucket.key.rotate": { on: "bucket", key: [{ scope: "storage", reach: "own" }] },

  // ── Keys, projects, users ─────────────────────────────────────────────────────────────────────────────────────────────
  "key.list": {
    on: "key",
    key: [{ scope: "keys", reach: "own" }],
    session: OWN_FILES,
    operator: "all",
  },
  "key.mint": {
    on: "key",
    key: [{ scope: "keys", reach: "nobody" }],
    outOfReach: {
      code: "session_only",
      message: "a platform key can't mint a platform key",
      policies: ["key-by-session"],
    },
  },
  "key.revoke": {
    on: "key",
    key: [{ scope: "keys", reach: "own" }],
    session: OWN_FILES,
    operator: "all",
  },
  "key.renew": { on: "key", operator: "all" },
  "project.list": {
    on: "project",
    key: [{ scope: "jobs:read", reach: "own" }],
    session: OWN_FILES,
  },
  "project.site-files": { on: "project", operator: "all" },
  "user.list": { on: "user", session: { "platform-admin": "all" }, operator: "all" },
  "user.read": { on: "user", session: { "platform-admin": "all" }, operator: "all" },
  "user.create": { on: "user", operator: "all" },
  "user.password": { on: "user", operator: "all" },
  "user.quota": { on: "user", session: { "platform-admin": "all" }, operator: "all" },
  "user.disable": { on: "user", operator: "all" },
  "user.enable": { on: "user", operator: "all" },

  // ── Nodes and what there is to run on ─────────────────────────────────────────────────────────────────────────────────
  "node.list": {
    on: "node",
    key: [{ scope: "nodes:read", admin: true, reach: "all" }],
    session: { "platform-admin": "all" },
    operator: "all",
  },
  "node.read": { on: "node", session: { "platform-admin": "all" }, operator: "all" },
  "node.drain": { on: "node", session: { "platform-admin": "all" }, operator: "all" },
  "node.undrain": { on: "node", session: { "platform-admin": "all" }, operator: "all" },
  "node.evict": { on: "node", operator: "all" },
  "node.remove": { on: "node", operator: "all" },
  "node.invite": { on: "node", operator: "all" },
  "node.join": { on: "node", node: { by: "join-token", reach: "own" } },
  /** Workers, models with their prices, and job images. */
  "fleet.read": {
    on: "appliance",
    key: [{ scope: "jobs:read", reach: "all" }],
    session: {
      "platform-admin": "all",
      "project-lead": "all",
      researcher: "all",
      viewer: "all",
      "service-account": "all",
    },
  },

  // ── The audit log ─────────────────────────────────────────────────────────────────────────────────────────────────────
  "audit.search": {
    on: "log",
    key: [
      { scope: "audit:read", admin: true, reach: "all" },
      { scope: "audit:read", reach: "own" },
    ],
    session: READS_LOG,
    allowedBy: { all: "audit-all", part: "audit-own" },
  },
  "audit.read": {
    on: "log",
    key: [
      { scope: "audit:read", admin: true, reach: "all" },
      { scope: "audit:read", reach: "own" },
    ],
    session: READS_LOG,
    allowedBy: { all: "audit-all", part: "audit-own" },
  },

  // ── The appliance ─────────────────────────────────────────────────────────────────────────────────────────────────────
  "appliance.status": { on: "appliance", session: { "platform-admin": "all" }, operator: "all" },
  "appliance.maintain": { on: "appliance", operator: "all" },
  /** A password that is good for pulling one repository. */
  "registry.login": { on: "appliance", operator: "all" },
  /** The token for it, against the password. */
  "registry.pull": {
    on: "appliance",
    node: { by: "pull-password", reach: "all" },
    operator: "all",
  },

  // ── Agents: a node speaks for itself, and for the members that it holds ───────────────────────────────────────────────
  "agent.register": OF_AGENT,
  "agent.beat": OF_AGENT,
  "agent.desired": OF_AGENT,
  "agent.report": OF_AGENT,
  "agent.stage": OF_AGENT,
  "agent.sign": OF_AGENT,
  "agent.pull-token": OF_AGENT,
  "agent.output-open": OF_AGENT,
  "agent.output-parts": OF_AGENT,
  "agent.output-complete": OF_AGENT,
  "agent.audit": OF_AGENT,
  "agent.tail": OF_AGENT,
  "member.act": { on: "member", node: AGENT },

  // ── The S3 front, which holds no table of its own ─────────────────────────────────────────────────────────────────────
  "front.owner": OF_FRONT,
  "front.bucket": OF_FRONT,
  "front.quota": OF_FRONT,
  "front.principal": OF_FRONT,
  "front.outputs": OF_FRONT,
  "front.part": OF_FRONT,
  "front.object": OF_FRONT,
} as const satisfies Record<string, PolicyRow> &
  Record<`agent.${AgentVerb}` | `front.${FrontQuestion["ask"]}`, PolicyRow>;

/** Everything that anybody may ask for. */
export type Action = keyof typeof POLICY;

/** The attributes of a row that tell whose it is; a row that has more is one as well. */
export type ResourceOf<A extends Action> = {
  [name in (typeof RESOURCES)[(typeof POLICY)[A]["on"]][number]]: string;
};
