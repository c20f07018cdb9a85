/** PostgreSQL: Keycloak's database, in a container of the bundle's image. It listens on loopback alone. */
import { defineContainer } from "@resontech/frame/define-part";

const NAME = "postgres";
export const DATABASE_PASSWORD = "password";
/** Below `data`: the database as an earlier release had it, root's own, and where the container sees that. */
export const KEPT_FOLDER = "postgres-kept";
export const KEPT_INSIDE = "/kept";
/** Length and code of `SSLRequest`: https://www.postgresql.org/docs/15/protocol-message-formats.html */
const SSL_REQUEST = Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47);

export const postgres = defineContainer({
  name: NAME,
  user: 13,
  image: "resontech/postgres",
  after: ["podman", "registry", "coordinator", "door"],
  port: { of: "postgres", on: "loopback" },
  sockets: {},
  secrets: [{ name: DATABASE_PASSWORD, kind: "random" }],
  certificates: [],
  // `S` or `N`: whether it speaks TLS; who asks for nothing more leaves no line in its log.
  health: { greeting: /^[SN]/, asked: SSL_REQUEST },
  settings: [],
  data: {
    isBackedUp: "apart",
    folders: [
      { name: NAME, mode: 0o700 },
      { name: KEPT_FOLDER, owner: "root", readers: "root", mode: 0o755 },
    ],
  },
  firstBytes: 64 * 1024 ** 2,
  start: { timeoutMs: 120_000 },
  // Fast shutdown: SIGTERM would wait for every session to leave.
  stop: { graceMs: 30_000, signal: "SIGINT" },
  container: ({ layout, appliance, secret }) => ({
    env: { LANG: "C.UTF-8" },
    // The first start makes the cluster; its password comes from a file, never from argv.
    entrypoint: ["/bin/sh", "-c"],
    args: [
      [
        "set -eu",
        "bin=/usr/lib/postgresql/15/bin",
        `if [ ! -s /data/cluster/PG_VERSION ]; then rm -rf /data/cluster; "$bin/initdb" -D /data/cluster -U keycloak --pwfile=/secrets/${DATABASE_PASSWORD} --auth=scram-sha-256 -E UTF8 --locale=C.UTF-8; fi`,
        `exec "$bin/postgres" -D /data/cluster -c listen_addresses=127.0.0.1 -c port=${appliance.ports.postgres} -c unix_socket_directories=/tmp -c jit=off -c shared_buffers=32MB -c max_connections=40`,
      ].join("\n"),
    ],
    binds: [
      `${layout.data(NAME)}:/data`,
      `${layout.data(KEPT_FOLDER)}:${KEPT_INSIDE}`,
      `${secret(NAME, "")}:/secrets:ro`,
    ],
    tmpfs: ["/tmp"],
    memoryBytes: 512 * 1024 ** 2,
  }),
});
