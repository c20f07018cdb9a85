import type { JobLogReply, JobLogsReply } from "@resontech/contracts/http-jobs";
import type { ReadHandle } from "../db/open-database.ts";
import type { ObjectStore, ObjectVersion } from "../storage/object-store.ts";
import { wholeCharacters } from "./decisions/whole-characters.ts";

type Job = { id: string; bucket: string };
type MemberRow = Omit<JobLogsReply[number], "storedBytes">;
/** A part of a member's log. `offset`: where it begins in what the member printed. */
type Chunk = { version: ObjectVersion; offset: number };

/** An agent stores a chunk every few seconds at most; so many are years. */
const MAX_CHUNKS = 100_000;

/** Logs of a job's members as they stand in its bucket, in chunks; what was printed in the last seconds is not there yet. */
export class StoredLogs {
  readonly #store: Pick<ObjectStore, "list" | "getRange">;
  readonly #members;

  constructor(db: ReadHandle, store: Pick<ObjectStore, "list" | "getRange">) {
    this.#store = store;
    this.#members = db.prepare<[string], MemberRow>(
      `SELECT members.id AS member, role, site, number AS attempt FROM members JOIN attempts ON attempts.id = attempt_id
       WHERE members.job_id = ? ORDER BY number DESC, is_lead DESC, shard_index`,
    );
  }

  /** @throws S3UnavailableError */
  async list({ id, bucket }: Job): Promise<JobLogsReply> {
    const stored = await this.#store.list(bucket, `logs/${id}/`, MAX_CHUNKS);
    const bytes = new Map<string, number>();
    for (const { key, sizeBytes } of stored) {
      const member = memberOf(key);
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
    if (!this.#members.all(id).some((one) => one.member === member)) return null;
    const chunks = chunksOf(await this.#store.list(bucket, `logs/${id}/${member}-`, MAX_CHUNKS));
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
}

/** `logs/JOB/MEMBER-GENERATION.COUNTER/SEQUENCE` */
function memberOf(key: string): string {
  return key.split("/")[2]?.replace(/-[^-]*$/, "") ?? "";
}

/** A member goes on counting its chunks when its fence is renewed. */
function chunksOf(versions: readonly ObjectVersion[]): Chunk[] {
  const sequenceOf = ({ key }: ObjectVersion) => Number(key.slice(key.lastIndexOf("/") + 1));
  let offset = 0;
  return [...versions]
    .sort((a, b) => sequenceOf(a) - sequenceOf(b))
    .map((version) => {
      const chunk = { version, offset };
      offset += version.sizeBytes;
      return chunk;
    });
}
