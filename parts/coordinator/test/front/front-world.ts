/** What the S3 front meets of the coordinator: people with buckets, quotas, jobs and releases in a real database, and the answers of it on a socket. */
import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { insertApproval } from "../../src/approvals/approval-store.ts";
import { S3_FRONT } from "../../src/authorization/caller.ts";
import { openDatabase, type OpenedDatabase } from "../../src/db/open-database.ts";
import { answerFront } from "../../src/front/answer-front.ts";
import { FrontServer } from "../../src/front/front-server.ts";
import { insertUser, setProjectQuota } from "../../src/identity/bucket-store.ts";
import { notePendingPair, promotePair, reconcilePair } from "../../src/identity/pair-store.ts";
import { BUCKET_RIGHTS, bucketPolicy } from "../../src/storage/decisions/bucket-policy.ts";
import { grantExport, setLeavesByApproval } from "../../src/storage/export-grants.ts";
import type { S3ObjectStore } from "../../src/storage/object-store.ts";
import type { S3Credentials } from "../../src/storage/s3-transport.ts";
import type { S3Users } from "../../src/storage/s3-users.ts";

export type FrontUser = { userId: string; bucket: string; keys: S3Credentials };

export type FrontWorldParts = {
  /** Where its database lies. */
  database: string;
  /** Where it answers. */
  socket: string;
  adminAccessKeyId: string;
  /** The administrator's, through the front. */
  store: S3ObjectStore;
  users: S3Users;
};

export class FrontWorld implements AsyncDisposable {
  /** Of its clock, before the true time. */
  aheadMs = 0;
  readonly #parts: FrontWorldParts;
  readonly #database: OpenedDatabase;
  #server: FrontServer | null = null;
  #users = 0;
  #jobs = 0;

  constructor(parts: FrontWorldParts) {
    this.#parts = parts;
    this.#database = openDatabase(parts.database);
  }

  async start(): Promise<void> {
    const { adminAccessKeyId, socket, store } = this.#parts;
    const answer = answerFront({
      ...{ caller: S3_FRONT, read: this.#database.read, store, adminAccessKeyId },
      now: () => Date.now() + this.aheadMs,
    });
    this.#server = await FrontServer.listen(socket, answer, pino({ level: "silent" }));
  }

  async stop(): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = null;
  }

  /** A user with a bucket as the coordinator makes them, through the front. */
  async addUser(quotaBytes: number, named?: string): Promise<FrontUser> {
    const userId = `u_${randomBytes(12).toString("hex")}`;
    this.#users += 1;
    const bucket = named ?? `canary${this.#users}-${randomBytes(4).toString("hex")}`;
    const keys = {
      accessKeyId: `RT${randomBytes(10).toString("hex").toUpperCase()}`,
      secretAccessKey: randomBytes(32).toString("base64url"),
    };
    const db = this.#database.write;
    const user = {
      userId,
      username: `canary${this.#users}`,
      projectId: projectOf(userId),
      bucket,
      quotaBytes,
      now: 1,
    };
    insertUser(db, user);
    const { store, users } = this.#parts;
    await store.ensureBucket(bucket);
    const of = { bucket, userId };
    notePendingPair(db, of, keys.accessKeyId, 1);
    await users.create(keys);
    await store.setBucketPolicy(bucket, bucketPolicy(bucket, [keys.accessKeyId]));
    promotePair(db, of, BUCKET_RIGHTS);
    reconcilePair(db, of);
    return { userId, bucket, keys };
  }

  /** As the operator does. */
  setQuota({ userId }: FrontUser, bytes: number): void {
    setProjectQuota(this.#database.write, projectOf(userId), bytes);
  }

  /** As a lead or an officer does. */
  leaveByApproval({ userId }: FrontUser, byApproval: boolean): void {
    setLeavesByApproval(this.#database.write, projectOf(userId), byApproval);
  }

  /** As an approved request does: the version may be read until then, in Unix milliseconds. */
  release({ userId, bucket }: FrontUser, key: string, versionId: string, until: number): void {
    const approvalId = `a_${randomBytes(12).toString("hex")}`;
    const sha256 = "0".repeat(64);
    insertApproval(this.#database.write, {
      ...{ id: approvalId, requesterId: userId, projectId: projectOf(userId), state: "approved" },
      what: { kind: "export", jobId: "j_1", files: [{ key, versionId, sha256 }] },
      ...{ deciderId: userId, reason: null, singlePerson: false },
      ...{ createdAt: 1, expiresAt: until, decidedAt: 1 },
    });
    grantExport(this.#database.write, { approvalId, userId, bucket, key, versionId, until });
  }

  /** A job's row alone: nobody runs it. @returns its id */
  addJob(
    { userId, bucket }: FrontUser,
    outputRoot: string,
    state: "RUNNING" | "SUCCEEDED",
  ): string {
    const id = `j_${randomBytes(12).toString("hex")}`;
    this.#jobs += 1;
    const row = {
      ...{
        id,
        sequence: this.#jobs,
        project_id: projectOf(userId),
        user_id: userId,
        name: "test",
        slug: "test",
        bucket,
      },
      ...{
        output_root: outputRoot,
        state,
        version: 1,
        desired: "run",
        state_since: 1,
        selection: "{}",
        only_mine: 0,
        image: "x",
      },
      ...{
        min_clients: 1,
        resumable: 0,
        warnings: "[]",
        shard_count: 1,
        shard_uncompressed_bytes: "[]",
      },
      ...{
        audit_op: "o",
        audit_index: 1,
        audit_leaf: "l",
        created_at: 1,
        ended_at: state === "RUNNING" ? null : 2,
      },
    };
    const names = Object.keys(row);
    this.#database.write
      .prepare(
        `INSERT INTO jobs (${names.join(", ")}) VALUES (${names.map((name) => `@${name}`).join(", ")})`,
      )
      .run(row);
    return id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this.#database[Symbol.dispose]();
  }
}

function projectOf(userId: string): string {
  return `p_${userId}`;
}
