/** A folder of the bucket as one archive, made in the browser: each object is read from the object store, and to read one is a fact of the audit log. */
import { Zip, ZipPassThrough } from "fflate";
import { ask } from "../../api/ask.ts";
import { Problem } from "../../api/problem.ts";
import { readUrl } from "./download.ts";

/** An archive without extensions of 64 bits holds no more, and a browser neither. */
const MOST_BYTES = 2 * 1024 ** 3;
const MOST_OBJECTS = 2_000;

type Listed = { key: string; sizeBytes: number };

/** All objects below a folder. @throws Problem where they are too many for a browser */
async function objectsBelow(project: string, prefix: string): Promise<Listed[]> {
  const found: Listed[] = [];
  const folders = [prefix];
  let size = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let after: string | undefined;
    do {
      const query = { prefix: folder, after, limit: 1_000 };
      const page = await ask("GET", "/api/users/storage/objects", { query, project });
      folders.push(...page.folders);
      found.push(...page.objects);
      for (const { sizeBytes } of page.objects) size += sizeBytes;
      if (found.length > MOST_OBJECTS || size > MOST_BYTES) throw tooMuch();
      after = page.next ?? undefined;
    } while (after !== undefined);
  }
  return found;
}

/** @param onRead told the bytes that were read so far, of so many @throws Problem */
export async function zipObjects(
  project: string,
  prefix: string,
  onRead: (bytes: number, of: number) => void,
  signal: AbortSignal,
): Promise<Blob> {
  const objects = await objectsBelow(project, prefix);
  const of = objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const parts: BlobPart[] = [];
  let failed: Error | null = null;
  const zip = new Zip((error, chunk) => {
    if (error === null) parts.push(chunk);
    else failed = error;
  });
  let read = 0;
  for (const { key } of objects) {
    const entry = new ZipPassThrough(key.slice(prefix.length));
    zip.add(entry);
    const answer = await fetch(await readUrl(key, project), { credentials: "omit", signal });
    if (!answer.ok || answer.body === null) throw refused(key, answer.status);
    const reader = answer.body.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      entry.push(next.value);
      read += next.value.length;
      onRead(read, of);
    }
    entry.push(new Uint8Array(0), true);
  }
  zip.end();
  if (failed !== null) throw failed as Error;
  return new Blob(parts, { type: "application/zip" });
}

function tooMuch(): Problem {
  return new Problem({
    code: "folder_too_large",
    message: "the folder holds more than 2,000 objects or 2 GiB",
    hint: "Take it by `resontech storage get FOLDER/ TARGET`.",
    ...{ status: 0, requestId: null },
  });
}

function refused(key: string, status: number): Problem {
  return new Problem({
    code: "storage_refused",
    message: `the object store answered with status ${status} for ${key}`,
    hint: "Try again.",
    ...{ status, requestId: null },
  });
}
