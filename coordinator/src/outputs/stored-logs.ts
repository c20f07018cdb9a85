import type { JobLogReply, JobLogsReply } from "@resontech/contracts/http-jobs";
import type { ReadHandle } from "../db/open-database.ts";
import type { ObjectStore } from "../storage/object-store.ts";
import {
  type Chunk,
  chunksOf,
  logFolder,
  MAX_CHUNKS,
  memberOfChunk,
} from "./decisions/log-chunks.ts";
import { wholeCharacters } from "./decisions/whole-characters.ts";

type Job = { id: string; bucket: string };
type MemberRow = Omit<JobLogsReply[number], "storedBytes">;

/** Logs of a job's members as they stand in its bucket, in chunks; what was printed in the last seconds is not there yet. */
export class StoredLogs {
  readonly #store: Pick<ObjectStore, "list" | "getRange">;
  readonly #members;

  constructor(db: ReadHandle, store: Pick<ObjectStore, "list" | "getRange">) {
    this.#store = store;
    this.#members = db.prepare<[string], MemberRow>(
      `SELECT members.id AS member, role, site, number AS attempt, members.state, coalesce(members.reason, members.stop_reason) AS reason,
         members.message
       FROM members JOIN attempts ON attempts.id = attempt_id
       WHERE members.job_id = ? ORDER BY number DESC, is_lead DESC, shard_index`,
    );
  }

  /** @throws S3UnavailableError */
  async list({ id, bucket }: Job): Promise<JobLogsReply> {
    const stored = await this.#store.list(bucket, logFolder(id), MAX_CHUNKS);
    const bytes = new Map<string, number>();
    for (const { key, sizeBytes } of stored) {
      const member = memberOfChunk(key);
      bytes.set(member, (bytes.get(member) ?? 0) + sizeBytes);
    }
    return this.#members
      .all(id)
      .map((one) => ({ ...one, storedBytes: bytes.get(one.member) ?? 0 }));
  }

  /**
   * Bytes from `offset`; a negative one counts from the end. Null for a member that the job never had.
   * @throws S3UnavailableError
   */
  async read(
    { id, bucket }: Job,
    member: string,
    { offset, bytes }: { offset: number; bytes: number },
  ): Promise<JobLogReply | null> {
    const chunks = await this.#chunks({ id, bucket }, member);
    if (chunks === null) return null;
    const last = chunks.at(-1);
    const storedBytes = last === undefined ? 0 : last.offset + last.version.sizeBytes;
    const start = Math.min(storedBytes, offset < 0 ? Math.max(0, storedBytes + offset) : offset);
    const stop = Math.min(storedBytes, start + bytes);
    const parts: Buffer[] = [];
    for (const { version, offset: at } of chunks) {
      const [from, to] = [Math.max(start, at), Math.min(stop, at + version.sizeBytes)];
      if (from >= to) continue;
      parts.push(await this.#store.getRange({ ...version, bucket }, from - at, to - at - 1));
    }
    const { skipped, text, used } = wholeCharacters(Buffer.concat(parts), stop === storedBytes);
    return { offset: start + skipped, end: start + used, storedBytes, text };
  }

  /** Members of a job, the newest attempt's first. */
  membersOf(jobId: string): MemberRow[] {
    return this.#members.all(jobId);
  }

  /**
   * The whole log of a member as it is stored now, piece by piece; null for a member that the job never had.
   * @throws S3UnavailableError, from the pieces too
   */
  async whole(
    job: Job,
    member: string,
  ): Promise<{ storedBytes: number; pieces: () => AsyncGenerator<Buffer> } | null> {
    const chunks = await this.#chunks(job, member);
    if (chunks === null) return null;
    const store = this.#store;
    return {
      storedBytes: chunks.reduce((sum, { version }) => sum + version.sizeBytes, 0),
      async *pieces() {
        for (const { version } of chunks)
          yield await store.getRange({ ...version, bucket: job.bucket }, 0, version.sizeBytes - 1);
      },
    };
  }

  async #chunks({ id, bucket }: Job, member: string): Promise<Chunk[] | null> {
    if (!this.#members.all(id).some((one) => one.member === member)) return null;
    return chunksOf(await this.#store.list(bucket, `${logFolder(id)}${member}-`, MAX_CHUNKS));
  }
}
