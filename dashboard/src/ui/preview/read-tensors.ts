/** Names and shapes in a file of a model, by ranges: however large it is, little of it is read. */
import { Inflate } from "fflate";
import { readStored } from "../../api/read-stored.ts";
import { NPY_HEAD_BYTES, npyHeader } from "./npy-header.ts";
import type { PreviewKind } from "./preview-kind.ts";
import { headerLength, LENGTH_BYTES, safetensorsHeader } from "./safetensors-header.ts";
import type { Tensor } from "./tensor-names.ts";
import { torchTensors } from "./torch-pickle.ts";
import {
  END_BYTES,
  LOCAL_BYTES,
  localHeaderBytes,
  zipEnd,
  zipEntries,
  type ZippedEntry,
} from "./zip-entries.ts";

export type Tensors = { tensors: readonly Tensor[]; isCut: boolean };

const MOST_HEADER_BYTES = 8 * 1024 ** 2;
const MOST_ARRAYS = 200;

/** Null where the file is not what its name says. @throws Problem where it can't be read */
export async function readTensors(
  url: string,
  sizeBytes: number,
  kind: PreviewKind,
  name: string,
  signal: AbortSignal,
): Promise<Tensors | null> {
  const read = async (start: number, bytes: number) => {
    if (bytes <= 0 || start >= sizeBytes) return new Uint8Array();
    const range = [start, Math.min(sizeBytes, start + bytes) - 1] as const;
    return new Uint8Array(await (await readStored(url, { range, signal })).arrayBuffer());
  };
  if (kind === "safetensors") {
    const length = headerLength(await read(0, LENGTH_BYTES), MOST_HEADER_BYTES);
    if (length === null) return null;
    try {
      const json = new TextDecoder().decode(await read(LENGTH_BYTES, length));
      return { tensors: safetensorsHeader(json), isCut: false };
    } catch (error) {
      if (error instanceof SyntaxError) return null;
      throw error;
    }
  }
  if (name.endsWith(".npy")) {
    const array = npyHeader(await read(0, NPY_HEAD_BYTES), name.slice(name.lastIndexOf("/") + 1));
    return array === null ? null : { tensors: [array], isCut: false };
  }
  const tailBytes = Math.min(sizeBytes, END_BYTES);
  const end = zipEnd(await read(sizeBytes - tailBytes, tailBytes), sizeBytes);
  if (end === null || end.bytes > MOST_HEADER_BYTES) return null;
  const entries = zipEntries(await read(end.offset, end.bytes));
  if (kind === "torch") {
    const pickle = entries.find((entry) => entry.name.endsWith("/data.pkl"));
    if (pickle === undefined) return null;
    return torchTensors(await headOf(pickle, MOST_HEADER_BYTES, read));
  }
  const arrays = entries.filter((entry) => entry.name.endsWith(".npy"));
  const tensors: Tensor[] = [];
  for (const entry of arrays.slice(0, MOST_ARRAYS)) {
    const head = await headOf(entry, NPY_HEAD_BYTES, read);
    const array = npyHeader(head, entry.name.replace(/\.npy$/, ""));
    if (array !== null) tensors.push(array);
  }
  return { tensors, isCut: arrays.length > MOST_ARRAYS };
}

/** The first bytes of an entry. */
async function headOf(
  entry: ZippedEntry,
  most: number,
  read: (start: number, bytes: number) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const skipped = localHeaderBytes(await read(entry.offset, LOCAL_BYTES));
  if (skipped === null) return new Uint8Array();
  const bytes = await read(entry.offset + skipped, Math.min(entry.compressedBytes, most));
  if (!entry.isDeflated) return bytes;
  const parts: Uint8Array[] = [];
  const inflate = new Inflate((part) => parts.push(part));
  // What is cut is no error: its beginning is all that is wanted.
  inflate.push(bytes, bytes.length === entry.compressedBytes);
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer()).subarray(0, most);
}
