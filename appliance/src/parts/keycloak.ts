/** Keycloak and its PostgreSQL: containers of the bundle's images that listen on loopback alone. */
import { existsSync, readFileSync } from "node:fs";
import type Docker from "dockerode";
import { keptDatabase } from "../keycloak/kept-database.ts";
import { keycloakClient } from "../keycloak/appliance-admin.ts";
import { BOOTSTRAP_USERNAME, bootstrappedMarker } from "../keycloak/replace-bootstrap-admin.ts";
import { directoryCas } from "../config/connections.ts";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import { uidOf } from "@resontech/frame/layout";
import {
  containerName,
  type ContainerSpec,
  removeContainer,
  startContainer,
} from "./container-runner.ts";
import {
  containerEngineParts,
  engineVersion,
  imageReference,
  type PartContext,
} from "./context.ts";
import { firstBytes, httpsGet } from "./health.ts";
import type { Part } from "./part.ts";
import { endLeftover, type StopSignal } from "./process-identity.ts";
import { pullImage, type RegistryLogin } from "./pull-image.ts";

type Container = { engine: Docker; login: (repository: string) => Promise<RegistryLogin> };

const MIB = 1024 * 1024;
/** Where PostgreSQL sees the database that an earlier release had. */
export const KEPT_INSIDE = "/kept";
/** Length and code of `SSLRequest`: https://www.postgresql.org/docs/15/protocol-message-formats.html */
const POSTGRES_SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Whole `JAVA_OPTS`: Keycloak's defaults choose G1, and a second collector beside it stops the JVM. */
function javaOptions(archive: string): string {
  return [
    "-Xms64m",
    "-Xmx320m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:MaxMetaspaceSize=256m",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:+AutoCreateSharedArchive",
    `-XX:SharedArchiveFile=${archive}`,
    "-Djava.net.preferIPv4Stack=true",
    // Its schema migration reports usage to its maker unless told not to (Liquibase since 4.30).
    "-Dliquibase.analytics.enabled=false",
    "-Dfile.encoding=UTF-8",
  ].join(" ");
}

function containerPart(
  context: PartContext,
  container: Container,
  spec: {
    repository: string;
    stopSignal: StopSignal;
    build: () => Omit<
      ContainerSpec,
      "image" | "instance" | "name" | "logFile" | "pidFile" | "stopSignal" | "engineKind"
    >;
  } & Pick<
    Part,
    "runs" | "name" | "after" | "port" | "version" | "isHealthy" | "startTimeoutMs" | "stopGraceMs"
  >,
): Part {
  const { config, layout } = context;
  const name = containerName(layout, spec.name);
  const pidFile = layout.run(`${spec.name}.pid`);
  return {
    ...spec,
    endLeftover: () =>
      endLeftover(pidFile, {
        graceMs: spec.stopGraceMs,
        stopSignal: spec.stopSignal,
        wholeGroup: false,
      }),
    prepare: () => removeContainer(container.engine, name),
    start: async () => {
      const image = imageReference(context, spec.repository);
      await pullImage(container.engine, image, () => container.login(spec.repository));
      const built = spec.build();
      // Programs look up the user that they run as: Podman adds it to the image's own file, Docker does not.
      const passwd = layout.run(`${spec.name}.passwd`);
      writeOwned(passwd, `${spec.name}:x:${built.user}::/tmp:/bin/false\n`, ROOT, 0o644);
      return await startContainer(container.engine, {
        ...built,
        binds: [...built.binds, `${passwd}:/etc/passwd:ro`],
        name,
        image,
        stopSignal: spec.stopSignal,
        instance: layout.instance,
        engineKind: config.containerEngine.kind,
        logFile: layout.log(`${spec.name}.log`),
        pidFile,
      });
    },
  };
}

export function postgresPart(context: PartContext, container: Container): Part {
  const { config, layout } = context;
  const [uid, port] = [uidOf(config, "postgres"), config.ports.postgres];
  return containerPart(context, container, {
    name: "postgres",
    repository: "resontech/postgres",
    after: [...containerEngineParts(context), "registry", "coordinator", "door"],
    port,
    version: engineVersion(context, "postgres"),
    // Fast shutdown: SIGTERM would wait for every session to leave.
    stopSignal: "SIGINT",
    startTimeoutMs: 120_000,
    stopGraceMs: 30_000,
    // `S` or `N`: whether it speaks TLS; who asks for nothing more leaves no line in its log.
    isHealthy: async () =>
      /^[SN]/.test((await firstBytes("127.0.0.1", port, POSTGRES_SSL_REQUEST))?.toString() ?? ""),
    build: () => {
      return {
        user: `${uid}:${uid}`,
        env: { LANG: "C.UTF-8" },
        // First start makes the cluster; its password comes from a file, never from argv.
        entrypoint: ["/bin/sh", "-c"],
        args: [
          [
            "set -eu",
            "bin=/usr/lib/postgresql/15/bin",
            'if [ ! -s /data/cluster/PG_VERSION ]; then rm -rf /data/cluster; "$bin/initdb" -D /data/cluster -U keycloak --pwfile=/secrets/password --auth=scram-sha-256 -E UTF8 --locale=C.UTF-8; fi',
            `exec "$bin/postgres" -D /data/cluster -c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=/tmp -c jit=off -c shared_buffers=32MB -c max_connections=40`,
          ].join("\n"),
        ],
        binds: [
          `${layout.data("postgres")}:/data`,
          `${keptDatabase(layout.root)}:${KEPT_INSIDE}`,
          `${layout.secrets("postgres")}:/secrets:ro`,
        ],
        tmpfs: ["/tmp"],
        memoryBytes: 512 * MIB,
      };
    },
  });
}

export function keycloakPart(context: PartContext, container: Container): Part {
  const { config, layout } = context;
  const uid = uidOf(config, "keycloak");
  const { keycloak: port, keycloakManagement: managementPort } = config.ports;
  return containerPart(context, container, {
    name: "keycloak",
    repository: "resontech/keycloak",
    after: ["postgres"],
    port,
    version: engineVersion(context, "keycloak"),
    stopSignal: "SIGTERM",
    startTimeoutMs: 240_000,
    stopGraceMs: 30_000,
    isHealthy: async () =>
      (
        await httpsGet({
          host: "127.0.0.1",
          port: managementPort,
          path: "/health/ready",
          servername: config.name,
          caFile: layout.rootCert,
          client: {
            cert: readFileSync(keycloakClient(layout).certFile),
            key: readFileSync(keycloakClient(layout).keyFile),
          },
        })
      )?.status === 200,
    build: () => {
      const secret = (name: string): string =>
        readFileSync(layout.secrets("keycloak", name), "utf8").trim();
      const isFirst = !existsSync(bootstrappedMarker(context));
      return {
        user: `${uid}:${uid}`,
        env: {
          LANG: "C.UTF-8",
          HOME: "/tmp",
          JAVA_OPTS: javaOptions("/opt/keycloak/data/keycloak.jsa"),
          KC_DB_URL: `jdbc:postgresql://127.0.0.1:${config.ports.postgres}/postgres`,
          KC_DB_USERNAME: "keycloak",
          KC_DB_PASSWORD: secret("db-password"),
          // The temporary administrator of the first start; first boot replaces and deletes it.
          ...(isFirst
            ? {
                KC_BOOTSTRAP_ADMIN_USERNAME: BOOTSTRAP_USERNAME,
                KC_BOOTSTRAP_ADMIN_PASSWORD: secret("bootstrap-password"),
              }
            : {}),
        },
        args: [
          "start",
          "--optimized",
          "--cache=local",
          "--http-host=127.0.0.1",
          "--http-enabled=false",
          "--http-management-host=127.0.0.1",
          `--https-port=${port}`,
          `--http-management-port=${managementPort}`,
          "--https-certificate-file=/secrets/server.crt",
          "--https-certificate-key-file=/secrets/server.key",
          // Every user of the host can reach loopback: whoever comes, to either port, shows a certificate of our root. The image's build says so.
          "--https-trust-store-file=/ca/root.crt",
          // It tells the coordinator of ended sessions, through the front door.
          `--truststore-paths=${["/ca/root.crt", ...directoryCas(layout).map((name) => `/directories/${name}`)].join(",")}`,
          `--hostname=https://${config.name}:${config.ports.api}`,
          "--proxy-headers=xforwarded",
          "--log-console-output=json",
        ],
        binds: [
          `${layout.data("keycloak")}:/opt/keycloak/data`,
          `${layout.secrets("keycloak")}:/secrets:ro`,
          `${layout.trustCert}:/ca/root.crt:ro`,
          `${layout.directoryCa()}:/directories:ro`,
        ],
        tmpfs: ["/tmp"],
        memoryBytes: 1024 * MIB,
      };
    },
  });
}
