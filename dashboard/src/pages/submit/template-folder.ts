/** The image classifier as a folder that a person might have chosen. Loaded when somebody wants it. */
import { strToU8, zipSync } from "fflate";
import type { ChosenFile } from "./chosen-files.ts";
import { IMAGE_CLASSIFIER } from "./image-classifier.ts";

/** The same bytes on every day: two jobs of the template have the same data. */
const MADE_AT = new Date(2026, 0, 1);

/** @property main path of the file that a person changes first */
export function templateFolder(): { name: string; main: string; files: ChosenFile[] } {
  const { name, main, files, shards } = IMAGE_CLASSIFIER;
  const texts = Object.entries(files).map(([path, text]) => chosen(path, text));
  const zips = Object.entries(shards).map(([file, held]) => {
    const entries = Object.entries(held).map(([path, text]) => [path, strToU8(text)] as const);
    return chosen(`shards/${file}`, zipSync(Object.fromEntries(entries), { mtime: MADE_AT }));
  });
  return { name, main, files: [...texts, ...zips] };
}

/** All files below one folder, to go on with on a disk. */
export async function zipOfFolder(
  folder: string,
  files: readonly ChosenFile[],
): Promise<Uint8Array<ArrayBuffer>> {
  const entries = await Promise.all(
    files.map(
      async ({ path, file }) =>
        [`${folder}/${path}`, new Uint8Array(await file.arrayBuffer())] as const,
    ),
  );
  return zipSync(Object.fromEntries(entries));
}

function chosen(path: string, content: string | Uint8Array<ArrayBuffer>): ChosenFile {
  return { path, file: new File([content], path.slice(path.lastIndexOf("/") + 1)) };
}
