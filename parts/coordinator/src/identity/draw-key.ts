import { randomBytes } from "node:crypto";
import {
  formatPlatformKey,
  hashPlatformKey,
  type KeyKind,
  keyHandle,
} from "./decisions/platform-key.ts";

/** @property row what is kept of it: all but the key itself */
export type DrawnKey = {
  key: string;
  row: { id: string; hash: Buffer; prefix: string; last4: string };
};

/** A platform key that nobody has had before. */
export function drawKey(kind: KeyKind): DrawnKey {
  const key = formatPlatformKey(kind, randomBytes(32));
  const id = `k_${randomBytes(12).toString("hex")}`;
  return { key, row: { id, hash: hashPlatformKey(key), ...keyHandle(key) } };
}
