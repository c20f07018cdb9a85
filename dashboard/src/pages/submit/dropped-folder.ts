/** A folder that was dragged onto the page, with all that is in it. */
import { type ChosenFile, isMeant } from "./chosen-files.ts";

/** Null where what was dropped is no single folder. */
export async function droppedFolder(
  items: DataTransferItemList,
): Promise<{ name: string; files: ChosenFile[] } | null> {
  // The list is empty as soon as the event is over.
  const entries = [...items].map((item) => item.webkitGetAsEntry());
  const [root] = entries;
  if (entries.length !== 1 || root?.isDirectory !== true) return null;
  const files: ChosenFile[] = [];
  await collect(root as FileSystemDirectoryEntry, "", files);
  const meant = files.filter(({ path }) => isMeant(path));
  return { name: root.name, files: meant.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

async function collect(
  folder: FileSystemDirectoryEntry,
  prefix: string,
  files: ChosenFile[],
): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = `${prefix}${entry.name}`;
    if (entry.isDirectory) await collect(entry as FileSystemDirectoryEntry, `${path}/`, files);
    else
      files.push({
        path,
        file: await new Promise<File>((resolve, reject) =>
          (entry as FileSystemFileEntry).file(resolve, reject),
        ),
      });
  }
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    // A browser gives a hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all;
    all.push(...some);
  }
}
