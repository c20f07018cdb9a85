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
  forgetUpload,
  type KeptUpload,
  readUpload,
  uploadFile,
  writeUpload,
} from "./kept-upload.ts";
import { Progress } from "./progress.ts";
import { putPart } from "./send-bytes.ts";

/** At once: more streams don't fill one network card better. */
const STREAMS = 4;
const TRIES = 5;
const WAIT_MS = 1_000;
/** A part that begins so late may still end. */
const SPARE_MS = 60_000;

export type Put = { key: string; sizeBytes: number; resumedBytes: number };

/** @throws CliError */
export async function putFile(settings: Settings, file: string, key: string): Promise<Put> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || !found.isFile())
    throw new CliError("file_missing", `${file} is no file`, "Name a file that you may read.");
  const { size: sizeBytes, mtimeMs: changedAtMs } = found;
  const path = uploadFile(dirname(sessionFile(process.env)), settings.baseUrl.origin, key, file);
  const kept = readUpload(path, { sizeBytes, changedAtMs }, Date.now());
  const upload = kept ?? (await begin(settings, key, { sizeBytes, changedAtMs }));
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
      upload.etags[part] = await withTries(() =>
        putPart(upload.urls[part]!, settings.ca, range, (bytes) => progress.add(bytes)),
      );
      writeUpload(path, upload);
    }
  };
  try {
    await Promise.all(Array.from({ length: STREAMS }, work));
  } catch (error) {
    // What the store refuses it refuses again: an upload that is gone there must not be gone on with.
    if (error instanceof CliError) forgetUpload(path);
    throw error;
  }
  const parts = upload.etags.map((etag, part) => ({ PartNumber: part + 1, ETag: etag ?? "" }));
  try {
    await sendJson(settings, "POST", "/api/users/storage/upload/complete", {
      ...{ key, uploadId: upload.uploadId, parts },
    });
  } catch (error) {
    // Somebody gave it up, or it was completed: the next try begins anew.
    if (error instanceof CliError && error.code === "upload_not_found") forgetUpload(path);
    throw error;
  }
  progress.end();
  forgetUpload(path);
  return { key, sizeBytes, resumedBytes };
}

async function begin(
  settings: Settings,
  key: string,
  { sizeBytes, changedAtMs }: Pick<KeptUpload, "sizeBytes" | "changedAtMs">,
): Promise<KeptUpload> {
  const { uploadId, urls } = (await sendJson(settings, "POST", "/api/users/storage/upload/init", {
    ...{ key, size: sizeBytes },
  })) as { uploadId: string; urls: string[] };
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

/** A connection that breaks is tried again; what the object store refuses is not. */
async function withTries<T>(effect: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await effect();
    } catch (error) {
      if (error instanceof CliError || tries === TRIES) throw error;
      await sleep(WAIT_MS * tries);
    }
}
