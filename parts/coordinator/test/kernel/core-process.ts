/** The core as a process of its own, so that a test can kill it: configuration as JSON in argv[2], requests by IPC. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { RegistryPasswords } from "../../src/identity/registry-passwords.ts";
import { openCore } from "../../src/compose/open-core.ts";
import { S3ObjectStore } from "../../src/storage/object-store.ts";
import { S3Transport } from "../../src/storage/s3-transport.ts";
import type { CoreProcessOptions } from "./killed-core.ts";

const options = JSON.parse(process.argv[2]!) as CoreProcessOptions;
const { config, admin } = options;
const fail = (error: unknown) => process.send?.({ kind: "error", message: String(error) });
const core = await openCore({
  config,
  version: "0.1.0",
  store: new S3ObjectStore(
    new S3Transport({
      ...{ endpoint: config.s3.endpoint, region: config.s3.region, credentials: admin },
      ca: readFileSync(config.s3.caFile, "utf8"),
    }),
  ),
  volume: { durable: () => Promise.resolve() },
  passwords: new RegistryPasswords(() => Date.now()),
  alarms: {
    onError: fail,
    onBrake: fail,
    onNodeDead: fail,
    onQuarantine: fail,
    onClockStep: fail,
    onAuditRejected: fail,
    onAuditHalted: fail,
  },
});
process.on("message", (message: { kind: "job" | "cancel"; id: string }) => {
  if (message.kind === "job")
    process.send?.({ kind: "job", state: core.kernel.job(message.id)?.state ?? null });
});
process.send?.({ kind: "ready", boot: randomUUID() });
