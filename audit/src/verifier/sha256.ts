import * as crypto from "node:crypto";

/** One call instead of three where the runtime has it (Node 20.12 and later). */
export const sha256: (bytes: Uint8Array) => Buffer =
  typeof crypto.hash === "function"
    ? (bytes) => crypto.hash("sha256", bytes, "buffer")
    : (bytes) => crypto.createHash("sha256").update(bytes).digest();
