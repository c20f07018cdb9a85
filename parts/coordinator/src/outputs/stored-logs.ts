import type { JobLogReply, JobLogsReply } from "@resontech/contracts/http-jobs";
import type { ReadHandle } from "../db/open-database.ts";
import {
  type Chunk,
  chunksOf,
  logFolder,
  MAX_CHUNKS,
  memberOfChunk,
} from "./decisions/log-chunks.ts";
import { listChunks, type LogStore, type MemberLog, readChunk } from "./read-chunk.ts";
import { wholeCharacters } from "./decisions/whole-characters.ts";

type Job = { id: string; bucket: string };
type MemberRow = Omit<JobLogsReply[number], "storedBytes">;

/** Logs of a job's members as they stand in its bucket, in chunks; what was printed in the last seconds is not there yet. */
export class StoredLogs {
  readonly #store: LogStore;
  readonly #members;

  constructor(db: ReadHandle, store: LogStore) {
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
    const parts = Map.groupBy(stored, ({ key }) => memberOfChunk(key));
    return this.#members
      .all(id)
      .map((one) => ({ ...one, storedBytes: bytesOf(chunksOf(parts.get(one.member) ?? [])) }));
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
    const log = { bucket, job: id, member };
    const chunks = await this.#chunks(log);
    if (chunks === null) return null;
    const storedBytes = bytesOf(chunks);
    const start = Math.min(storedBytes, offset < 0 ? Math.max(0, storedBytes + offset) : offset);
    const stop = Math.min(storedBytes, start + bytes);
    const parts: Buffer[] = [];
    for (const chunk of chunks) {
      const at = chunk.offset;
      const [from, to] = [Math.max(start, at), Math.min(stop, at + chunk.version.sizeBytes)];
      if (from >= to) continue;
      parts.push(await readChunk(this.#store, log, chunk, from - at, to - at - 1));
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
    { id, bucket }: Job,
    member: string,
  ): Promise<{ storedBytes: number; pieces: () => AsyncGenerator<Buffer> } | null> {
    const log = { bucket, job: id, member };
    const chunks = await this.#chunks(log);
    if (chunks === null) return null;
    const store = this.#store;
    return {
      storedBytes: bytesOf(chunks),
      async *pieces() {
        for (const chunk of chunks)
          yield await readChunk(store, log, chunk, 0, chunk.version.sizeBytes - 1);
      },
    };
  }

  async #chunks(log: MemberLog): Promise<Chunk[] | null> {
    if (!this.#members.all(log.job).some((one) => one.member === log.member)) return null;
    return await listChunks(this.#store, log);
  }
}

function bytesOf(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { version }) => sum + version.sizeBytes, 0);
}
