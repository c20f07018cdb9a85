import { createHash } from "node:crypto";

/** Of this product's evidence; drawn once. */
const NAMESPACE = Buffer.from("6c1f5b0e9d6a4f5f8a0e3b7c2d914e66", "hex");

/** RFC 9562 §5.5: the same name always has the same UUID. */
export function uuidV5(name: string): string {
  const bytes = createHash("sha1").update(NAMESPACE).update(name, "utf8").digest().subarray(0, 16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
