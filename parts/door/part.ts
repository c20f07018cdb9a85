/** The front door: HAProxy on the port that people, programs and nodes know; behind it coordinator, inference gateway and Keycloak's sign-in. */
import { defineEngine, type HostReader } from "@resontech/frame/define-part";
import { DOOR_HEALTH_PATH, renderDoorConfig } from "./src/door-config.ts";

const NAME = "door";
const CONFIG = "haproxy.cfg";
/** What the door shows Keycloak. */
const CLIENT = "keycloak-client";
/** MiB of one worker. Full of connections with long headers it takes 160, of HTTP/2 streams whose bodies nobody fetches all of it, and goes on. */
const MEMORY_MIB = 384;
/** More would wait for one another: two hold what the coordinator can answer. */
const MOST_THREADS = 4;
/** HAProxy itself allows 1,300 for the memory that the door has. */
const MOST_CONNECTIONS = 1_200;
/** Files of its own: log, timers, sockets that it listens on. */
const OWN_FILES = 128;

/** Each connection of a client may need one more to a part behind the door. */
function capacityOf({ limits }: HostReader): { maxConnections: number; threads: number } {
  const { openFiles, processors } = limits();
  return {
    maxConnections: Math.min(MOST_CONNECTIONS, Math.floor((openFiles - OWN_FILES) / 2)),
    threads: Math.min(MOST_THREADS, processors),
  };
}

/** It starts before anything that fetches a token, and waits for none: until the coordinator answers, the door says so. */
export const door = defineEngine({
  name: NAME,
  user: 6,
  engine: "haproxy",
  program: "haproxy/haproxy",
  // A master, which stays when certificates are renewed, and a worker, which ends with it.
  args: ({ secret }) => ["-W", "-m", String(MEMORY_MIB), "-f", secret(NAME, CONFIG)],
  loads: ["engines/haproxy/lib/"],
  // Its OpenSSL would read the host's settings: ours are all in its own file.
  env: () => ({ OPENSSL_CONF: "/dev/null" }),
  files: [
    {
      name: CONFIG,
      text: (facts) =>
        renderDoorConfig({
          address: facts.appliance.address,
          port: facts.appliance.ports.api,
          name: facts.appliance.name,
          certFile: facts.secret(NAME, "server.crt"),
          coordinatorSocket: facts.socket("coordinator", "api"),
          servingSocket: facts.socket("serving", "calls"),
          keycloak: {
            ...{ port: facts.appliance.ports.keycloak, caFile: facts.layout.rootCert },
            clientCertFile: facts.secret(NAME, `${CLIENT}.crt`),
          },
          ...capacityOf(facts),
        }),
    },
  ],
  after: [],
  port: { of: "api", on: "perimeter" },
  sockets: {},
  certificates: [
    { name: "server", isDoor: true },
    { name: CLIENT, dnsNames: [] },
  ],
  certificateChange: { signal: "SIGUSR2", toldBy: "health" },
  health: { httpsPath: DOOR_HEALTH_PATH },
  settings: [],
  data: null,
  firstBytes: 0,
  start: { after: ({ secret }) => [{ args: ["-c", "-f", secret(NAME, CONFIG)] }] },
  stop: { graceMs: 15_000, drain: "SIGUSR1" },
  inShortage: "last",
});
