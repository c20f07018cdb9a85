import { join } from "node:path";
import type { ServingConfig } from "../../src/config.ts";

/** Nobody outside may be dialled: there is no list of hosts, and no S3 door. */
export function noWayOut(dir: string): Pick<ServingConfig, "callbacksDir" | "outbound"> {
  return {
    callbacksDir: join(dir, "callbacks"),
    outbound: {
      hostsFile: join(dir, "outbound.json"),
      s3: { names: ["s3.invalid"], address: "127.0.0.1", port: 1 },
    },
  };
}
