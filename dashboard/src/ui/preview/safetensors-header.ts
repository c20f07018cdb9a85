/** The header of a safetensors file: its length in 8 bytes, then JSON (https://huggingface.co/docs/safetensors). Pure. */
import type { Tensor } from "./tensor-names.ts";

export const LENGTH_BYTES = 8;

/** Null where it is none, or longer than anybody reads. */
export function headerLength(bytes: Uint8Array, most: number): number | null {
  if (bytes.length < LENGTH_BYTES) return null;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  return length === 0n || length > BigInt(most) ? null : Number(length);
}

/** @throws SyntaxError where it is no header */
export function safetensorsHeader(json: string): Tensor[] {
  const header = JSON.parse(json) as Record<string, { dtype?: unknown; shape?: unknown }>;
  return Object.entries(header).flatMap(([name, { dtype, shape }]) =>
    name === "__metadata__" ? [] : [{ name, dtype: String(dtype), shape: sizesOf(shape) }],
  );
}

function sizesOf(shape: unknown): number[] {
  return Array.isArray(shape) ? shape.map(Number) : [];
}
