/** Keycloak: who people are. In a container of the bundle's image, on loopback, and only for who shows a certificate of the appliance. */
import { defineContainer, type PartFacts } from "@resontech/frame/define-part";
import { fault, type Finding, type FindingFacts } from "@resontech/frame/finding";
import { serverNames } from "@resontech/frame/server-names";

const NAME = "keycloak";
const DATABASE_PASSWORD = "db-password";
const BOOTSTRAP_PASSWORD = "bootstrap-password";
/** The temporary administrator of the first start; first boot replaces and deletes it. */
export const BOOTSTRAP_USERNAME = "bootstrap";
/** Among root's secrets: there once the temporary administrator is gone. */
export const BOOTSTRAPPED_FILE = "keycloak-bootstrapped";
/** With which the appliance's own programs come here; the files are root's. */
export const KEYCLOAK_CLIENT = "keycloak-client";
/** Of authorities that the customer named. */
const CERTIFICATE = /^[a-z0-9-]+\.crt$/;

function isFirst({ layout, read }: PartFacts): boolean {
  return read(layout.secrets("appliance", BOOTSTRAPPED_FILE)) === null;
}

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

function environmentOf(facts: PartFacts): Record<string, string> {
  const { appliance, read, secret } = facts;
  const text = (name: string): string => (read(secret(NAME, name)) ?? "").trim();
  return {
    LANG: "C.UTF-8",
    HOME: "/tmp",
    JAVA_OPTS: javaOptions("/opt/keycloak/data/keycloak.jsa"),
    KC_DB_URL: `jdbc:postgresql://127.0.0.1:${appliance.ports.postgres}/postgres`,
    KC_DB_USERNAME: "keycloak",
    KC_DB_PASSWORD: text(DATABASE_PASSWORD),
    ...(isFirst(facts)
      ? {
          KC_BOOTSTRAP_ADMIN_USERNAME: BOOTSTRAP_USERNAME,
          KC_BOOTSTRAP_ADMIN_PASSWORD: text(BOOTSTRAP_PASSWORD),
        }
      : {}),
  };
}

function argumentsOf({ appliance: { name, ports }, layout, names }: PartFacts): string[] {
  const authorities = names(layout.directoryCa())
    .filter((file) => CERTIFICATE.test(file))
    .map((file) => `/directories/${file}`);
  return [
    "start",
    "--optimized",
    "--cache=local",
    "--http-host=127.0.0.1",
    "--http-enabled=false",
    "--http-management-host=127.0.0.1",
    `--https-port=${ports.keycloak}`,
    `--http-management-port=${ports.keycloakManagement}`,
    "--https-certificate-file=/secrets/server.crt",
    "--https-certificate-key-file=/secrets/server.key",
    // Every user of the host can reach loopback: whoever comes, to either port, shows a certificate of our root. The image's build says so.
    "--https-trust-store-file=/ca/root.crt",
    // It tells the coordinator of ended sessions, through the front door.
    `--truststore-paths=${["/ca/root.crt", ...authorities].join(",")}`,
    `--hostname=https://${name}:${ports.api}`,
    "--proxy-headers=xforwarded",
    "--log-console-output=json",
  ];
}

function realmFindings({ realm }: FindingFacts): Finding[] {
  if (realm === null || realm.differences === 0) return [];
  return [
    fault(
      "realm_drift",
      `Keycloak's realm differs from the release in ${realm.differences} places: ${realm.first.join(", ")}`,
      "look at them: appliance identity diff; then: appliance identity apply. Find out who changed it: resontech audit search --type auth.idp.admin",
    ),
  ];
}

export const keycloak = defineContainer({
  name: NAME,
  user: 14,
  image: "resontech/keycloak",
  after: ["podman", "postgres"],
  port: { of: "keycloak", on: "loopback" },
  sockets: {},
  secrets: [
    { name: DATABASE_PASSWORD, sameAs: { part: "postgres", name: "password" } },
    { name: BOOTSTRAP_PASSWORD, kind: "random", isWanted: isFirst },
  ],
  certificates: [{ name: "server", dnsNames: serverNames }],
  health: {
    httpsPath: "/health/ready",
    port: "keycloakManagement",
    shows: { folder: "appliance", name: KEYCLOAK_CLIENT },
  },
  settings: [],
  data: { isBackedUp: false },
  firstBytes: 64 * 1024 ** 2,
  findings: { identity: realmFindings },
  start: { timeoutMs: 240_000 },
  stop: { graceMs: 30_000 },
  container: (facts) => ({
    env: environmentOf(facts),
    args: argumentsOf(facts),
    binds: [
      `${facts.layout.data(NAME)}:/opt/keycloak/data`,
      `${facts.secret(NAME, "")}:/secrets:ro`,
      `${facts.layout.trustCert}:/ca/root.crt:ro`,
      `${facts.layout.directoryCa()}:/directories:ro`,
    ],
    tmpfs: ["/tmp"],
    memoryBytes: 1024 ** 3,
  }),
});
