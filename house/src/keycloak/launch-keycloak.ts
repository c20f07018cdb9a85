import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import type { KeycloakAddress } from "@resontech/keycloak/address";
import { KEYCLOAK_THEMES } from "@resontech/keycloak/themes";

const START_MS = 180_000;
/** Its temporary administrator. */
export const BOOTSTRAP = { username: "bootstrap", password: "bootstrap-of-the-test" };
const JAVA_OPTIONS = [
  ...["-Xms64m", "-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"],
  ...["-XX:MaxMetaspaceSize=256m", "-Djava.net.preferIPv4Stack=true"],
  "-Dliquibase.analytics.enabled=false",
];

export type Launch = {
  /** The Java runtime's folder. */
  java: string;
  /** Keycloak's own folder, which it writes to. */
  home: string;
  /** The folder of `server.crt` and `server.key`, and its home. */
  dir: string;
  address: KeycloakAddress;
  managementPort: number;
  /** PEM files of certificates that it trusts. */
  trusted: readonly string[];
  /** Of the class archives: `-XX:SharedArchiveFile=…`. */
  archiveOptions: readonly string[];
};

export type Launched = { child: ChildProcess; admin: KeycloakAdmin };

/** Answers when its administrator can ask it. @throws Error with the end of its output where it does not start */
export async function launchKeycloak({
  java,
  home,
  dir,
  address,
  managementPort,
  trusted,
  archiveOptions,
}: Launch): Promise<Launched> {
  const child = spawn(
    join(home, "bin", "kc.sh"),
    [
      ...["start", "--optimized", "--cache=local", "--http-host=127.0.0.1"],
      ...["--http-enabled=false", "--http-management-host=127.0.0.1"],
      `--https-port=${address.port}`,
      `--http-management-port=${managementPort}`,
      `--https-certificate-file=${join(dir, "server.crt")}`,
      `--https-certificate-key-file=${join(dir, "server.key")}`,
      `--truststore-paths=${trusted.join(",")}`,
      `--hostname=${address.origin}`,
      "--proxy-headers=xforwarded",
      `--spi-theme--folder--dir=${KEYCLOAK_THEMES}`,
      // Of one that asks for certificates.
      `--https-trust-store-file=${join(dir, "server.crt")}`,
    ],
    {
      stdio: ["ignore", "pipe", "pipe"],
      // Its script starts Java as a child of its own.
      detached: true,
      env: {
        PATH: `${java}/bin:/usr/bin:/bin`,
        JAVA_HOME: java,
        HOME: dir,
        LC_ALL: "C.UTF-8",
        JAVA_OPTS: [...JAVA_OPTIONS, ...archiveOptions].join(" "),
        KC_BOOTSTRAP_ADMIN_USERNAME: BOOTSTRAP.username,
        KC_BOOTSTRAP_ADMIN_PASSWORD: BOOTSTRAP.password,
      },
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const deadline = Date.now() + START_MS;
  for (;;) {
    if (child.exitCode !== null || Date.now() > deadline) {
      endGroup(child, "SIGKILL");
      throw new Error(`keycloak does not start:\n${output.slice(-4_000)}`);
    }
    const admin = await KeycloakAdmin.asBootstrap(
      address,
      BOOTSTRAP.username,
      BOOTSTRAP.password,
    ).catch((error: unknown) => {
      if (error instanceof Error && "code" in error) return null;
      throw error;
    });
    if (admin !== null) return { child, admin };
    await sleep(500);
  }
}

/** SIGTERM lets it write its database and class archive to the end; SIGKILL is for one that is thrown away. */
export async function endKeycloak(
  child: ChildProcess,
  signal: "SIGTERM" | "SIGKILL",
): Promise<void> {
  if (endGroup(child, signal)) await once(child, "close");
}

/** Sends a signal to all processes of the group; false when it has ended. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false;
  process.kill(-pid, signal);
  return true;
}
