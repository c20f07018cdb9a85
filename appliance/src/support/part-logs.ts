/** The logs of parts, each as one text with its older files before the newest. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";
import { join } from "node:path";

/** `coordinator.log`, and what a rotation put aside. */
const LOG = /^([a-z0-9.-]+)\.log(?:\.(\d+))?$/;

export type PartLog = {
  part: string /** The newest first. */;
  files: readonly string[];
  bytes: number;
};

export function listPartLogs(folder: string): PartLog[] {
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const [, part, age = "0"] = (entry.isFile() ? LOG.exec(entry.name) : null) ?? [];
    return part === undefined ? [] : [{ part, age: Number(age), file: join(folder, entry.name) }];
  });
  return [...Map.groupBy(found, ({ part }) => part)]
    .map(([part, files]) => {
      const ordered = files.toSorted((a, b) => a.age - b.age).map(({ file }) => file);
      return { part, files: ordered, bytes: ordered.reduce((sum, file) => sum + sizeOf(file), 0) };
    })
    .toSorted((a, b) => a.part.localeCompare(b.part));
}

/** The end of it, in whole lines: one that is cut could hold half a secret, which nobody would know. */
export function readPartLog({ files }: PartLog, maxBytes: number): string {
  const parts: Buffer[] = [];
  let left = maxBytes;
  let isCut = false;
  for (const file of files) {
    const { bytes, isWhole } = tailOf(file, left);
    parts.unshift(bytes);
    left -= bytes.length;
    isCut = !isWhole;
    if (isCut) break;
  }
  const bytes = Buffer.concat(parts);
  const from = isCut ? bytes.indexOf(0x0a) + 1 : 0;
  const to = bytes.lastIndexOf(0x0a) + 1;
  return isCut && from === 0 ? "" : bytes.subarray(from, to).toString();
}

function sizeOf(file: string): number {
  return withFile(file, (fd) => fstatSync(fd).size);
}

function tailOf(file: string, maxBytes: number): { bytes: Buffer; isWhole: boolean } {
  return withFile(file, (fd) => {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, Math.max(0, maxBytes)));
    const from = size - bytes.length;
    let at = 0;
    for (let read = -1; read !== 0 && at < bytes.length; at += read)
      read = readSync(fd, bytes, at, bytes.length - at, from + at);
    return { bytes: bytes.subarray(0, at), isWhole: from === 0 };
  });
}

function withFile<R>(file: string, use: (fd: number) => R): R {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return use(fd);
  } finally {
    closeSync(fd);
  }
}
