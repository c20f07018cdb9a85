import { ensureEngine, type NativeEngine } from "@resontech/airgap/engines";

const ENGINES = {
  "nats-server": "nats",
  versitygw: "s3",
  registry: "registry",
} as const satisfies Record<string, NativeEngine>;

/** Path of a real engine, built once from its pinned source. */
export function engineBinary(name: keyof typeof ENGINES): Promise<string> {
  return ensureEngine(ENGINES[name]);
}
