/** Several files as one zip, on its way from the object store to the person's disk: no file is held in memory as a whole. */
import { Zip, ZipPassThrough } from "fflate";
import { type JobFileVersion, jobFileUrl } from "../../../api/job-file.ts";
import { readStored } from "../../../api/read-stored.ts";

type ZippedFile = JobFileVersion & { /** In the zip. */ path: string };

/** Of the place where this origin's files lie until the browser has saved them. */
const PREFIX = "rt-zip-";
const KEPT_MS = 10 * 60_000;

/** @param told bytes that are in it, as they come @throws Problem where a file may not leave; then nothing is saved */
export async function zipFiles(
  name: string,
  files: readonly ZippedFile[],
  told: (bytes: number) => void,
): Promise<void> {
  const root = await navigator.storage.getDirectory();
  await forgetEarlier(root);
  const place = await root.getFileHandle(`${PREFIX}${crypto.randomUUID()}`, { create: true });
  const out = await place.createWritable();
  try {
    await writeZip(out, files, told);
  } catch (error) {
    await out.abort();
    await root.removeEntry(place.name);
    throw error;
  }
  await out.close();
  const url = URL.createObjectURL(await place.getFile());
  save(url, name);
  // The browser reads it on for a while. What is left behind goes with the next zip.
  setTimeout(() => {
    URL.revokeObjectURL(url);
    void root.removeEntry(place.name).catch(() => undefined);
  }, KEPT_MS);
}

async function writeZip(
  out: FileSystemWritableFileStream,
  files: readonly ZippedFile[],
  told: (bytes: number) => void,
): Promise<void> {
  // Who may not have one of them is told so before anything is read.
  const urls: string[] = [];
  for (const file of files) urls.push(await jobFileUrl(file));
  let waiting: Uint8Array[] = [];
  const zip = new Zip((error, part) => {
    if (error !== null) throw error;
    waiting.push(part);
  });
  const write = async () => {
    const parts = waiting;
    waiting = [];
    for (const part of parts) await out.write(part as Uint8Array<ArrayBuffer>);
  };
  for (const [at, { path }] of files.entries()) {
    // Models do not become smaller.
    const entry = new ZipPassThrough(path);
    zip.add(entry);
    const { body } = await readStored(urls[at]!);
    for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
      entry.push(part);
      told(part.length);
      await write();
    }
    entry.push(new Uint8Array(), true);
    await write();
  }
  zip.end();
  await write();
}

/** Earlier ones are saved by now, or given up. */
async function forgetEarlier(root: FileSystemDirectoryHandle): Promise<void> {
  const names: string[] = [];
  for await (const name of (root as unknown as { keys(): AsyncIterable<string> }).keys())
    if (name.startsWith(PREFIX)) names.push(name);
  for (const name of names) await root.removeEntry(name).catch(() => undefined);
}

function save(url: string, name: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
}
