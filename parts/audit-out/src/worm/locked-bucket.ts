/** A bucket in which nothing can be changed or deleted before its day: S3 object lock, mode COMPLIANCE, a date for each object. */
import { createHash, randomUUID } from "node:crypto";
import { callS3, type S3Answer, type S3Call, type S3Store } from "./s3-request.ts";

type WormErrorCode = "worm_unreachable" | "worm_refused" | "worm_not_locked" | "worm_conflict";

export class WormError extends Error {
  override readonly name = "WormError";
  readonly code: WormErrorCode;

  constructor(code: WormErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const PRECONDITION_FAILED = 412;
const PROBE_LOCK_MS = 300_000;

export class LockedBucket {
  readonly #store: S3Store;

  constructor(store: S3Store) {
    this.#store = store;
  }

  /**
   * Makes the bucket where there is none, and tries in earnest whether it holds what it is to hold: a locked object is put, then deleted, deleted with the right
   * to override, its lock shortened, its name written again. All of it must be refused.
   * @throws WormError
   */
  async prepare(signal: AbortSignal): Promise<void> {
    const made = await this.#call(
      { method: "PUT", key: "", headers: { "x-amz-bucket-object-lock-enabled": "true" } },
      signal,
    );
    if (!isDone(made) && made.code !== "BucketAlreadyOwnedByYou")
      throw refused("make the bucket", made);
    const key = `lock-probe/${randomUUID()}`;
    const body = Buffer.from("a probe of the lock\n", "latin1");
    const put = await this.#call(
      this.#put(key, body, new Date(Date.now() + PROBE_LOCK_MS)),
      signal,
    );
    if (!isDone(put)) throw refused("lock an object", put, "worm_not_locked");
    const versionId = String(put.headers["x-amz-version-id"] ?? "");
    if (versionId === "") throw new WormError("worm_not_locked", "the store keeps no versions");
    const query = { versionId };
    const attempts: [string, S3Call][] = [
      ["was deleted", { method: "DELETE", key, query }],
      [
        "was deleted by override",
        { method: "DELETE", key, query, headers: { "x-amz-bypass-governance-retention": "true" } },
      ],
      [
        "had its lock shortened",
        { method: "PUT", key, query: { retention: "", versionId }, ...shortened() },
      ],
      ["was written again", this.#put(key, body, new Date(Date.now() + PROBE_LOCK_MS))],
    ];
    for (const [what, call] of attempts)
      if (isDone(await this.#call(call, signal)))
        throw new WormError("worm_not_locked", `an object that was locked ${what}`);
    const kept = await this.#call({ method: "GET", key, query }, signal);
    if (!isDone(kept) || !kept.body.equals(body))
      throw new WormError("worm_not_locked", "an object that was locked is gone");
  }

  /**
   * Puts an object that is locked until a day. One that is there must be the same.
   * @throws WormError `worm_conflict` when it is another
   */
  async keep(key: string, body: Buffer, until: Date, signal: AbortSignal): Promise<void> {
    const put = await this.#call(this.#put(key, body, until), signal);
    if (isDone(put)) return;
    if (put.status !== PRECONDITION_FAILED) throw refused(`keep ${key}`, put);
    const there = await this.#call({ method: "GET", key }, signal);
    if (!isDone(there)) throw refused(`read ${key}`, there);
    if (!there.body.equals(body))
      throw new WormError("worm_conflict", `the copy's ${key} has other bytes than the log`);
  }

  #put(key: string, body: Buffer, until: Date): S3Call {
    return {
      ...{ method: "PUT", key, body },
      headers: {
        // A name is written once: a second version would hide the first from whoever asks without one.
        "if-none-match": "*",
        // S3 asks for it where an object is locked.
        "content-md5": createHash("md5").update(body).digest("base64"),
        "content-type": "application/octet-stream",
        "x-amz-object-lock-mode": "COMPLIANCE",
        "x-amz-object-lock-retain-until-date": until.toISOString().replace(/\.\d{3}Z$/, "Z"),
      },
    };
  }

  async #call(call: S3Call, signal: AbortSignal): Promise<S3Answer> {
    try {
      return await callS3(this.#store, call, signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new WormError(
        "worm_unreachable",
        error instanceof Error ? error.message : String(error),
        { cause: error },
      );
    }
  }
}

function shortened(): Pick<S3Call, "headers" | "body"> {
  const until = new Date(Date.now() + 1_000).toISOString().replace(/\.\d{3}Z$/, "Z");
  const body = Buffer.from(
    `<Retention><Mode>COMPLIANCE</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`,
    "utf8",
  );
  return { body, headers: { "content-md5": createHash("md5").update(body).digest("base64") } };
}

function isDone({ status }: S3Answer): boolean {
  return status >= 200 && status < 300;
}

function refused(
  what: string,
  { status, code }: S3Answer,
  as: WormErrorCode = "worm_refused",
): WormError {
  return new WormError(as, `the store did not ${what}: ${status} ${code}`);
}
