/** The header of a NumPy array (numpy.lib.format): dtype and shape, without a byte of its data. Pure. */
import type { Tensor } from "./tensor-names.ts";

/** More than any header of an array without named fields. */
export const NPY_HEAD_BYTES = 4_096;

/** Null where it is no array. */
export function npyHeader(bytes: Uint8Array, name: string): Tensor | null {
  const isNpy = bytes[0] === 0x93 && new TextDecoder().decode(bytes.subarray(1, 6)) === "NUMPY";
  if (!isNpy || bytes.length < 12) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isLong = bytes[6]! >= 2;
  const from = isLong ? 12 : 10;
  const length = isLong ? view.getUint32(8, true) : view.getUint16(8, true);
  const text = new TextDecoder().decode(bytes.subarray(from, from + length));
  const shape = /'shape': \(([^)]*)\)/.exec(text)?.[1];
  if (shape === undefined) return null;
  return {
    name,
    dtype: /'descr': '([^']*)'/.exec(text)?.[1] ?? "fields",
    shape: shape
      .split(",")
      .filter((size) => size.trim() !== "")
      .map(Number),
  };
}
