/** The front door: HAProxy on the port that people, programs and nodes know; behind it the coordinator and Keycloak's sign-in. */
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { DOOR_HEALTH_PATH } from "@resontech/door/door-config";
import { uidOf } from "@resontech/frame/layout";
import { runOnce } from "../supervisor/run-once.ts";
import { makeApiSocketFolder } from "./api-socket.ts";
import { engineVersion, type PartContext } from "./context.ts";
import { httpsGet } from "./health.ts";
import { overlappedPart } from "./overlapped-part.ts";
import type { Part } from "./part.ts";
import { signalRecorded } from "./process-identity.ts";
import { processPart } from "./process-part.ts";

/** MiB of one worker. Full of connections with long headers it takes 160, of HTTP/2 streams whose bodies nobody fetches all of it, and goes on. */
const MEMORY_MIB = 384;
/** Its OpenSSL would read the host's settings: ours are all in its own file. */
const ENVIRONMENT = { OPENSSL_CONF: "/dev/null" };

/** Starts before anything that fetches a token, and does not wait for the coordinator: until that answers, the door says so. */
export function doorPart(context: PartContext): Part {
  const { config, layout } = context;
  const program = layout.release("engines", "haproxy", "haproxy");
  const file = layout.secrets("door", "haproxy.cfg");
  const part = processPart(context, {
    name: "door",
    after: [],
    user: "door",
    program,
    // A master, which stays when certificates are renewed, and a worker, which ends with it.
    args: ["-W", "-m", String(MEMORY_MIB), "-f", file],
    loads: ["engines/haproxy/lib/"],
    env: () => ENVIRONMENT,
    port: config.ports.api,
    version: engineVersion(context, "haproxy"),
    prepare: async () => {
      makeApiSocketFolder(context);
      await runOnce(program, ["-c", "-f", file], uidOf(config, "door"), ENVIRONMENT);
    },
    isHealthy: async () => {
      const answer = await httpsGet({
        host: config.address,
        port: config.ports.api,
        path: DOOR_HEALTH_PATH,
        servername: config.name,
        caFile: layout.trustCert,
      });
      if (answer?.status !== 200) return false;
      if (answer.fingerprint !== fingerprintOf(layout.secrets("door", "server.crt")))
        signalRecorded(layout.run("door.pid"), "SIGUSR2");
      return true;
    },
  });
  return overlappedPart(part, layout, "SIGUSR1");
}

/** Of the first certificate in the file, which is the server's own. */
function fingerprintOf(file: string): string {
  return new X509Certificate(readFileSync(file)).fingerprint256;
}
