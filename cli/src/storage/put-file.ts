/** A file into the project's bucket, in parts. What was sent stays sent: a second try goes on with the parts that are missing. */
import { statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UPLOAD_PART_BYTES } from "@resontech/contracts/http-storage";
import { sendJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { sessionFile } from "../sign-in/kept-session.ts";
import {
  canGoOn,
  forgetUpload,
  type KeptUpload,
  readUpload,
  uploadFile,
  writeUpload,
} from "./kept-upload.ts";
import { Progress } from "./progress.ts";
import { etagOfParts } from "./etag-of-parts.ts";
import { etagOf, putPart } from "./send-bytes.ts";
import { StoreRefusal } from "./store-refusal.ts";

/** At once: more streams don't fill one network card better. */
const STREAMS = 4;
const TRIES = 5;
const WAIT_MS = 1_000;
/** As long as the S3 front lets the store work on one completion. */
const COMPLETION_MS = 15 * 60_000;
const COMPLETION_STEP_MS = 2_000;
/** A part that begins so late may still end. */
const SPARE_MS = 60_000;

/** @property isAnew what an earlier try sent could not be used @property versionId of the object that this put stored */
export type Put = {
  key: string;
  sizeBytes: number;
  resumedBytes: number;
  isAnew: boolean;
  versionId: string;
};
type Target = { file: string; key: string; sizeBytes: number; changedAtMs: number };

/** @throws CliError */
export async function putFile(settings: Settings, file: string, key: string): Promise<Put> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile())
    throw new CliError("file_missing", `${file} is no file`, "Name a file that you may read.");
  const target = { file, key, sizeBytes: found.size, changedAtMs: found.mtimeMs };
  const path = uploadFile(dirname(sessionFile(process.env)), settings, key, file);
  const kept = readUpload(path);
  if (kept !== null && canGoOn(kept, target, Date.now()))
    try {
      const sent = await send(settings, target, path, kept);
      return { key, sizeBytes: target.sizeBytes, ...sent, isAnew: false };
    } catch (error) {
      // Of an upload that is gone at the store nothing is left to go on with.
      if (!isOver(error)) throw error;
      // Unless it was cut while the store put the parts together: then the object is there.
      const versionId = await storedVersion(settings, target, kept);
      if (versionId !== null) {
        const { sizeBytes } = target;
        return { key, sizeBytes, resumedBytes: sizeBytes, isAnew: false, versionId };
      }
    }
  else if (kept !== null) await giveUp(settings, key, kept.uploadId);
  const { versionId } = await send(settings, target, path, await begin(settings, target));
  return { key, sizeBytes: target.sizeBytes, resumedBytes: 0, isAnew: kept !== null, versionId };
}

/** Sends what is missing and completes. Keeps the upload while a later try can go on with it. @returns bytes that were there before, and the version that they all became */
async function send(
  settings: Settings,
  { file, key, sizeBytes }: Target,
  path: string,
  upload: KeptUpload,
): Promise<{ resumedBytes: number; versionId: string }> {
  writeUpload(path, upload);
  const bytesOf = (part: number) =>
    Math.min(UPLOAD_PART_BYTES, sizeBytes - part * UPLOAD_PART_BYTES);
  const resumedBytes = upload.etags.reduce(
    (sum, etag, part) => (etag === null ? sum : sum + bytesOf(part)),
    0,
  );
  const progress = new Progress(key, sizeBytes, resumedBytes);
  const waiting = upload.etags.flatMap((etag, part) => (etag === null ? [part] : []));
  const work = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const range = { file, start: part * UPLOAD_PART_BYTES, bytes: bytesOf(part) };
      const url = upload.urls[part]!;
      upload.etags[part] = await withTries(async () => {
        let sent = 0;
        try {
          return await putPart(url, settings.ca, range, (bytes) => {
            sent += bytes;
            progress.add(bytes);
          });
        } catch (error) {
          progress.add(-sent);
          throw error;
        }
      }).catch((error: unknown) => {
        // The other streams end their parts, which stay sent, and begin no more.
        waiting.length = 0;
        throw error;
      });
      writeUpload(path, upload);
    }
  };
  let versionId: string;
  try {
    const streams = await Promise.allSettled(Array.from({ length: STREAMS }, work));
    for (const stream of streams) if (stream.status === "rejected") throw stream.reason;
    progress.waits("the store puts it together");
    versionId = await complete(settings, key, upload);
  } catch (error) {
    progress.end();
    if (isOver(error)) {
      forgetUpload(path);
      await giveUp(settings, key, upload.uploadId);
    }
    throw error;
  }
  progress.end();
  forgetUpload(path);
  return { resumedBytes, versionId };
}

/**
 * The store copies every part, which takes minutes for a large object. Asked a second time meanwhile, as after a kill, it does not answer: then
 * the first one is waited for.
 */
async function complete(
  settings: Settings,
  key: string,
  { uploadId, etags }: KeptUpload,
): Promise<string> {
  const parts = etags.map((etag, part) => ({ PartNumber: part + 1, ETag: etag ?? "" }));
  const body = { key, uploadId, parts };
  const path = "/api/users/storage/upload/complete";
  for (const until = Date.now() + COMPLETION_MS; ; await sleep(COMPLETION_STEP_MS))
    try {
      return (await sendJson(settings, "POST", path, { body, timeoutMs: COMPLETION_MS })).versionId;
    } catch (error) {
      const isUnderWay = error instanceof CliError && error.code === "storage_unavailable";
      if (!isUnderWay || Date.now() > until) throw error;
    }
}

/** The version of what these parts make, where the key holds that: by the object's ETag, which the parts' digests decide. */
async function storedVersion(
  settings: Settings,
  { key, sizeBytes }: Target,
  { etags }: KeptUpload,
): Promise<string | null> {
  const parts = etags.filter((etag) => etag !== null);
  if (parts.length < etags.length) return null;
  try {
    const path = "/api/users/storage/download";
    const found = await sendJson(settings, "POST", path, { body: { key } });
    const isSame =
      found.sizeBytes === sizeBytes &&
      (await etagOf(found.url, settings.ca)) === etagOfParts(parts);
    return isSame ? found.versionId : null;
  } catch {
    // Whoever may not read it sends it again.
    return null;
  }
}

/** What is refused so will be refused again: another upload may be taken. */
function isOver(error: unknown): boolean {
  if (error instanceof StoreRefusal) return error.kind === "gone" || error.kind === "refused";
  return (
    error instanceof CliError &&
    (error.code === "upload_not_found" || error.code === "upload_parts_invalid")
  );
}

/** Its parts count in the quota as long as it stands. */
async function giveUp(settings: Settings, key: string, uploadId: string): Promise<void> {
  try {
    const body = { key, uploadId };
    await sendJson(settings, "POST", "/api/users/storage/upload/abort", { body });
  } catch {
    // It is gone, or the next try meets the same obstacle and says so.
  }
}

async function begin(
  settings: Settings,
  { key, sizeBytes, changedAtMs }: Target,
): Promise<KeptUpload> {
  const { uploadId, urls } = await sendJson(settings, "POST", "/api/users/storage/upload/init", {
    body: { key, size: sizeBytes },
  });
  return {
    ...{ sizeBytes, changedAtMs, uploadId, urls },
    goodUntil: Date.now() + lifeOf(urls[0]) - SPARE_MS,
    etags: urls.map(() => null),
  };
}

/** Milliseconds, as the URL itself says (SigV4). */
function lifeOf(url: string | undefined): number {
  return url === undefined ? 0 : Number(new URL(url).searchParams.get("X-Amz-Expires")) * 1_000;
}

/** A connection that breaks is tried again, and so is a store that can't just now; what it refuses is not. */
async function withTries<T>(effect: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await effect();
    } catch (error) {
      const isFinal = error instanceof StoreRefusal && error.kind !== "later";
      if (isFinal || tries === TRIES) throw error;
      await sleep(WAIT_MS * tries);
    }
}
