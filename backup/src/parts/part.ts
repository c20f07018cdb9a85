import type { ManifestPart } from "../manifest/manifest.ts";

/** One part of a backup: where it is put back, and its bytes from the beginning, each time they are asked for. */
export type Part = Pick<ManifestPart, "name" | "kind" | "path"> & {
  open(): AsyncIterable<Uint8Array> | Promise<Opened>;
};
/** Where more is known than the bytes. */
export type Opened = {
  bytes: AsyncIterable<Uint8Array>;
  schema?: number;
  /** When it was as these bytes are, or earlier. */
  readAtMs?: number;
};
