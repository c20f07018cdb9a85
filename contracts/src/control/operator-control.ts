/**
 * What the operator asks of the coordinator about keys, users, jobs and nodes: a part of the control socket (control-protocol.ts). Of a job its
 * state alone is told, never its name, paths, logs or values: the operator of the box is no reader of the data.
 */
import type { DeviceUse } from "../agent/agent-protocol.ts";
import type { ApprovalProof } from "../audit/approval-proof.ts";
import { type Static, Type } from "typebox";
import type { NodeState } from "../agent/node-states.ts";
import type { MemberState } from "../job/job-states.ts";
import { MAX_TITLE, TITLE_PATTERN } from "../http/http-projects.ts";
import { type IMAGE_ADMISSIONS, ImageDigest, ImageName, ImageProgram } from "../image/own-image.ts";

const closed = { additionalProperties: false } as const;
const Name = Type.String({ minLength: 1, maxLength: 64 });
const Title = Type.String({ minLength: 1, maxLength: MAX_TITLE, pattern: TITLE_PATTERN });
const Id = Type.String({ minLength: 1, maxLength: 64, pattern: "^[A-Za-z0-9._-]+$" });
/** Days of a key's further life. */
const MAX_KEY_DAYS = 366;
/** Longest reason that the job's owner is told. */
const MAX_REASON = 200;

/** A connection's name, a stroke, and the group's name there. */
const GroupName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,30}/[^\\p{Cc}]{1,224}$" });
/** Roles in a project, which a group gives, and those of the whole appliance, for which it asks. */
export const MAPPED_ROLES = [
  ...["project-lead", "researcher", "viewer"],
  ...["platform-admin", "security-officer", "compliance-auditor", "data-steward"],
] as const;

const verb = <V extends string>(name: V) => Type.Literal(name);

export const OPERATOR_REQUESTS = [
  /** All users' keys, or one's. */
  Type.Object({ verb: verb("key-list"), username: Type.Optional(Name) }, closed),
  /** The same secret lives so many days from now on; a key that has expired lives again, one that was revoked never. */
  Type.Object(
    { verb: verb("key-renew"), key: Id, days: Type.Integer({ minimum: 1, maximum: MAX_KEY_DAYS }) },
    closed,
  ),
  Type.Object({ verb: verb("key-revoke"), key: Id }, closed),
  Type.Object({ verb: verb("user-list") }, closed),
  /** A password for the next sign-in, which must be changed there; it is answered once. */
  Type.Object({ verb: verb("user-password"), username: Name }, closed),
  /** Every passkey and code generator is void; the person sets up a new one at the next sign-in. */
  Type.Object({ verb: verb("user-second-factor"), username: Name }, closed),
  Type.Object({ verb: verb("user-show"), username: Name }, closed),
  /** A quota below what is stored removes nothing; it refuses what comes. */
  Type.Object(
    {
      verb: verb("user-quota"),
      username: Name,
      bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    },
    closed,
  ),
  /** Platform keys are refused, and the bucket's key pair is taken away. Jobs that run go on. */
  Type.Object({ verb: verb("user-disable"), username: Name }, closed),
  /** Platform keys that live are good again; the bucket gets a new key pair, whose secret is answered once. */
  Type.Object({ verb: verb("user-enable"), username: Name }, closed),
  /** What is known of a user by name, and what of it stays once the user is forgotten. */
  Type.Object({ verb: verb("user-traces"), username: Name }, closed),
  /** The account at Keycloak, the name and what is personal go; with the bucket all that lies in it. The user must be disabled. */
  Type.Object({ verb: verb("user-forget"), username: Name, withBucket: Type.Boolean() }, closed),
  /** Takes somebody out of a project: keys and key pair of it are refused at once. */
  Type.Object({ verb: verb("member-remove"), username: Name, project: Id }, closed),
  /** Makes an administrator of a user without two people; a finding tells of it until a second person knows. */
  Type.Object({ verb: verb("restore-administrator"), username: Name }, closed),
  Type.Object({ verb: verb("group-list") }, closed),
  /** A role of the whole appliance, without a project, is asked for and not given. */
  Type.Object(
    {
      verb: verb("group-map"),
      group: GroupName,
      project: Type.Union([Id, Type.Null()]),
      role: Type.Enum([...MAPPED_ROLES]),
    },
    closed,
  ),
  /** Everything that the group gives, or what it gives in one project. */
  Type.Object(
    { verb: verb("group-unmap"), group: GroupName, project: Type.Union([Id, Type.Null()]) },
    closed,
  ),
  /** A project of a team, which is made where it is not there; the lead says who else is a member. */
  Type.Object(
    { verb: verb("project-add"), name: Title, team: Type.Optional(Title), lead: Name },
    closed,
  ),
  Type.Object({ verb: verb("project-list") }, closed),
  Type.Object(
    {
      verb: verb("job-list"),
      living: Type.Boolean(),
      limit: Type.Integer({ minimum: 1, maximum: 500 }),
    },
    closed,
  ),
  Type.Object({ verb: verb("job-show"), job: Id }, closed),
  /** The job's owner reads the reason; the audit log does not hold it. */
  Type.Object(
    {
      verb: verb("job-cancel"),
      job: Id,
      reason: Type.String({ minLength: 1, maxLength: MAX_REASON, pattern: "^[^\\p{Cc}]*$" }),
    },
    closed,
  ),
  Type.Object({ verb: verb("node-list") }, closed),
  Type.Object({ verb: verb("node-show"), node: Name }, closed),
  /** Nothing new is placed there; what runs there runs to its end. */
  Type.Object({ verb: verb("node-drain"), node: Name }, closed),
  Type.Object({ verb: verb("node-undrain"), node: Name }, closed),
  /** What runs there ends, and its jobs go on elsewhere. */
  Type.Object({ verb: verb("node-evict"), node: Name }, closed),
  /** Its certificate is void; refused while the node lives and holds something. */
  Type.Object({ verb: verb("node-remove"), node: Name }, closed),
  /** They bring the appliance's own release: one first, then waves. It takes the place of every earlier order. */
  Type.Object(
    {
      verb: verb("node-upgrade"),
      /** Null: every node. */
      nodes: Type.Union([Type.Array(Name, { minItems: 1, maxItems: 4_096 }), Type.Null()]),
      except: Type.Array(Name, { maxItems: 4_096 }),
    },
    closed,
  ),
  Type.Object({ verb: verb("image-list") }, closed),
  /** The registry has it: deployments may name it from then on. */
  Type.Object(
    {
      verb: verb("image-add"),
      name: ImageName,
      digest: ImageDigest,
      sizeBytes: Type.Integer({ minimum: 0 }),
      program: ImageProgram,
      admission: Type.Union([
        /** As somebody was told it by another way than the image came. */
        Type.Object({ by: Type.Literal("digest"), said: ImageDigest }, closed),
        Type.Object(
          {
            by: Type.Literal("signature"),
            /** Base64, of the image's statement. */
            signature: Type.String({ maxLength: 1_024, pattern: "^[A-Za-z0-9+/]+={0,2}$" }),
          },
          closed,
        ),
        /** The request of two people. */
        Type.Object({ by: Type.Literal("approval"), approval: Id }, closed),
      ]),
    },
    closed,
  ),
  /** Refused while a deployment runs it. */
  Type.Object({ verb: verb("image-remove"), name: ImageName }, closed),
  Type.Object({ verb: verb("image-keys") }, closed),
  Type.Object({ verb: verb("image-trust"), pem: Type.String({ maxLength: 4_096 }) }, closed),
  /** By the beginning of its SHA-256. */
  Type.Object(
    { verb: verb("image-distrust"), key: Type.String({ pattern: "^[0-9a-f]{8,64}$" }) },
    closed,
  ),
  /** What shows that two people approved a request, for who performs it. */
  Type.Object({ verb: verb("approval-proof"), approval: Id }, closed),
  /** A page of what was decided within the last week, each kind of question once; `after` is the last question of the page before. */
  Type.Object(
    { verb: verb("policy-decisions"), after: Type.Optional(Type.String({ maxLength: 16_384 })) },
    closed,
  ),
] as const;
export type OperatorRequest = Static<(typeof OPERATOR_REQUESTS)[number]>;
export type OperatorVerb = OperatorRequest["verb"];

/** Instants are RFC 3339. */
export type KeyFacts = {
  key: string;
  username: string;
  name: string;
  /** What is told of the key itself: `rsk_live_ab…wxyz`. */
  handle: string;
  state: "living" | "expired" | "revoked";
  expiresAt: string;
  lastUsedAt: string | null;
};
export type UserFacts = {
  userId: string;
  username: string;
  isAdmin: boolean;
  isDisabled: boolean;
  /** Null of somebody with a duty alone, who has no project of the own. */
  bucket: string | null;
  quotaBytes: number | null;
  livingKeys: number;
  livingJobs: number;
  createdAt: string;
};
/** Rows about a user. @property stays why they are kept, by the pseudonym alone; null of those that go */
export type TraceFacts = { part: string; count: number; stays: string | null };
/** @property project null of a role of the whole appliance, which is asked for */
export type GroupFacts = { group: string; project: string | null; role: string };
export type JobFacts = {
  job: string;
  /** Of its workload. */
  kind: string;
  username: string;
  state: string;
  since: string;
  createdAt: string;
  attempt: number;
  round: number | null;
  rounds: number | null;
  waitingFor: string | null;
  /** Code of why it waits, stops or ended. */
  reason: string | null;
};
export type JobMemberFacts = {
  role: string;
  site: string | null;
  node: string;
  worker: string | null;
  state: string;
};
export type NodeFacts = {
  node: string;
  state: NodeState;
  workers: number;
  busy: number;
  /** Why somebody keeps it out of new work; null when nobody does. See `whyNoWork`. */
  drained: string | null;
  silentS: number | null;
  freeBytes: number | null;
};
/** How a node's order to bring the appliance's release stands. */
export type NodeUpgradeFacts = {
  order: string;
  release: string;
  /** `begun`: told, and neither there nor failed. A node that failed runs what it ran before. */
  state: "waiting" | "begun" | "done" | "failed";
  /** From 0; a wave begins once the one before is done. */
  wave: number;
  failed: { code: string; message: string } | null;
  /** Of a node that has not begun. `itself`: it does not answer, and catches up when it is back. */
  waitsFor: "itself" | "its turn" | "nothing, for another failed" | null;
};
/** @property release what it runs; null where it does not say: its release is older than this, or it is the appliance's own host */
export type NodeReleaseFacts = {
  node: string;
  release: string | null;
  upgrade: NodeUpgradeFacts | null;
};
/** A slot of a node, as its agent tells of it. */
export type NodeWorkerFacts = {
  worker: string;
  model: string;
  memoryBytes: number;
  /** Why nothing is placed on it; null when something is. */
  unfit: string | null;
  architecture: string | null;
  driver: string | null;
  pciAddress: string | null;
  numaNode: number | null;
  /** Null for a CPU slot, and from an agent that does not say. */
  grade: "recommended" | "least" | "unverified" | null;
  shortOf: string[];
  /** What it did at the node's last beat; null where that was not told. */
  use: Omit<DeviceUse, "worker"> | null;
};
export type NodeMemberFacts = {
  job: string;
  role: string;
  site: string | null;
  worker: string | null;
  state: MemberState;
};

/** @property team null for a user's own first project */
export type ProjectFacts = {
  project: string;
  name: string;
  team: string | null;
  leads: string[];
  members: number;
  bucket: string;
  quotaBytes: number;
  createdAt: string;
};

/** `question`: JSON of kinds of caller and row, never an id; the coordinator alone knows its form. `lastAt`: Unix milliseconds. */
export type DecisionFacts = { question: string; times: number; lastAt: number };

/** @property proof the key or the request that vouches for it; null where its digest was said @property deployments that run it */
export type ImageFacts = {
  name: string;
  digest: string;
  sizeBytes: number;
  admittedBy: (typeof IMAGE_ADMISSIONS)[number];
  proof: string | null;
  admittedAt: string;
  deployments: string[];
};
/** @property sha256 of the public key, hex */
export type ImageKeyFacts = { sha256: string; trustedAt: string };

export type OperatorReply =
  | { ok: true; verb: "key-list"; keys: KeyFacts[] }
  | { ok: true; verb: "key-renew"; key: string; expiresAt: string }
  | { ok: true; verb: "key-revoke"; key: string }
  | { ok: true; verb: "user-list"; users: UserFacts[] }
  | { ok: true; verb: "user-show"; user: UserFacts; keys: KeyFacts[] }
  | { ok: true; verb: "user-second-factor"; username: string }
  | { ok: true; verb: "user-password"; username: string; password: string }
  | { ok: true; verb: "user-quota"; username: string; bytes: number }
  | { ok: true; verb: "user-disable"; username: string; livingJobs: number }
  | {
      ok: true;
      verb: "user-enable";
      username: string;
      /** Null where a duty leaves the person no data, or there is no bucket. */
      accessKeyId: string | null;
      secretAccessKey: string | null;
    }
  | {
      ok: true;
      verb: "user-traces";
      userId: string;
      username: string;
      livingJobs: number;
      /** At Keycloak. */
      hasAccount: boolean;
      /** The connected directory that knows the person, whatever is forgotten here. */
      directory: string | null;
      /** Of the own first project, and named after the user. */
      bucket: { name: string; usedBytes: number; objects: number } | null;
      rows: TraceFacts[];
    }
  | {
      ok: true;
      verb: "user-forget";
      userId: string;
      /** Under which the user is listed from now on. */
      username: string;
      /** One that still has the old name; null where none has. */
      bucket: string | null;
      directory: string | null;
      /** What stays, with the reason. */
      rows: TraceFacts[];
    }
  | { ok: true; verb: "member-remove"; username: string; project: string }
  | { ok: true; verb: "restore-administrator"; username: string }
  | { ok: true; verb: "group-list"; groups: GroupFacts[] }
  | { ok: true; verb: "group-map"; group: string; role: string }
  | { ok: true; verb: "group-unmap"; group: string; taken: number }
  | { ok: true; verb: "project-add"; project: string; name: string; team: string; lead: string }
  | { ok: true; verb: "project-list"; projects: ProjectFacts[] }
  | { ok: true; verb: "job-list"; jobs: JobFacts[] }
  | { ok: true; verb: "job-show"; job: JobFacts; members: JobMemberFacts[] }
  | { ok: true; verb: "job-cancel"; job: string; state: string }
  | { ok: true; verb: "node-list"; nodes: NodeFacts[]; releases: NodeReleaseFacts[] }
  | {
      ok: true;
      verb: "node-show";
      node: NodeFacts;
      release: NodeReleaseFacts | null;
      members: NodeMemberFacts[];
      workers: NodeWorkerFacts[];
    }
  | { ok: true; verb: "node-drain"; node: string; members: number }
  | { ok: true; verb: "node-undrain"; node: string }
  | { ok: true; verb: "node-evict"; node: string; members: number }
  | { ok: true; verb: "node-remove"; node: string }
  | {
      ok: true;
      verb: "node-upgrade";
      /** What the nodes bring: the appliance's own. */
      release: string;
      /** Ordered, or under way by an earlier order. */
      ordered: string[];
      /** They have it. */
      current: string[];
      /** They can't be told. */
      leftOut: { node: string; why: string }[];
    }
  | { ok: true; verb: "image-list"; images: ImageFacts[] }
  | { ok: true; verb: "image-add"; image: ImageFacts }
  | { ok: true; verb: "image-remove"; name: string; digest: string }
  | { ok: true; verb: "image-keys"; keys: ImageKeyFacts[] }
  | { ok: true; verb: "image-trust"; sha256: string }
  | { ok: true; verb: "image-distrust"; sha256: string }
  | { ok: true; verb: "approval-proof"; proof: ApprovalProof }
  /** `next` is null on the last page. */
  | {
      ok: true;
      verb: "policy-decisions";
      policySet: string;
      decisions: DecisionFacts[];
      next: string | null;
    };
