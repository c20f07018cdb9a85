import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ensureTestKeycloak } from "@resontech/airgap/keycloak-tree";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { askKeycloak, type KeycloakAddress } from "@resontech/keycloak/address";
import { freePort } from "../../../dev/free-port.ts";

const run = promisify(execFile);
const START_MS = 180_000;
const BOOTSTRAP = { username: "bootstrap", password: "bootstrap-of-the-test" };

/** A real Keycloak of its own, with TLS and an empty database of its own. */
export class RunningKeycloak implements AsyncDisposable {
  readonly address: KeycloakAddress;
  readonly certFile: string;
  readonly keyFile: string;
  readonly admin: KeycloakAdmin;
  readonly #dir: string;
  readonly #child: ChildProcess;

  private constructor(
    address: KeycloakAddress,
    dir: string,
    child: ChildProcess,
    admin: KeycloakAdmin,
  ) {
    this.address = address;
    this.#dir = dir;
    this.#child = child;
    this.admin = admin;
    this.certFile = join(dir, "server.crt");
    this.keyFile = join(dir, "server.key");
  }

  /**
   * @param origin what browsers call it by, where that is not its own port
   * @param trusted PEM files of certificates that it trusts beside its own
   * @param sameAs another one, whose certificate it has as well: both trust each other
   */
  static async start(
    origin?: string,
    trusted: readonly string[] = [],
    sameAs?: RunningKeycloak,
  ): Promise<RunningKeycloak> {
    const tree = await ensureTestKeycloak();
    const dir = mkdtempSync(join(tmpdir(), "rt-keycloak-"));
    const home = join(dir, "keycloak");
    // Its folders are written to; its libraries, by far the most, are not.
    cpSync(join(tree, "keycloak"), home, {
      recursive: true,
      filter: (path) => path !== join(tree, "keycloak", "lib"),
    });
    symlinkSync(join(tree, "keycloak", "lib"), join(home, "lib"));
    if (sameAs === undefined) await makeCertificate(dir);
    else
      for (const name of ["server.crt", "server.key"])
        cpSync(join(sameAs.#dir, name), join(dir, name));
    const [port, management] = [await freePort(), await freePort()];
    const address = {
      port,
      origin: origin ?? `https://localhost:${port}`,
      caPem: readFileSync(join(dir, "server.crt"), "utf8"),
    };
    const child = spawn(
      join(home, "bin", "kc.sh"),
      [
        "start",
        "--optimized",
        "--cache=local",
        "--http-host=127.0.0.1",
        "--http-enabled=false",
        "--http-management-host=127.0.0.1",
        `--https-port=${port}`,
        `--http-management-port=${management}`,
        `--https-certificate-file=${join(dir, "server.crt")}`,
        `--https-certificate-key-file=${join(dir, "server.key")}`,
        `--truststore-paths=${[join(dir, "server.crt"), ...trusted].join(",")}`,
        `--hostname=${address.origin}`,
        "--proxy-headers=xforwarded",
      ],
      {
        stdio: ["ignore", "pipe", "pipe"],
        // Its script starts Java as a child of its own.
        detached: true,
        env: {
          PATH: `${tree}/java/bin:/usr/bin:/bin`,
          JAVA_HOME: join(tree, "java"),
          HOME: dir,
          LC_ALL: "C.UTF-8",
          JAVA_OPTS:
            "-Xms64m -Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:MaxMetaspaceSize=256m -Djava.net.preferIPv4Stack=true -Dliquibase.analytics.enabled=false",
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
        endGroup(child);
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
      if (admin !== null) return new RunningKeycloak(address, dir, child, admin);
      await sleep(500);
    }
  }

  async ask(path: string): Promise<{ status: number; text: string }> {
    return await askKeycloak(this.address, path, { method: "GET", headers: {}, body: null });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (endGroup(this.#child)) await once(this.#child, "close");
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

/** False when it has ended. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess): boolean {
  if (pid === undefined || exitCode !== null || signalCode !== null) return false;
  process.kill(-pid, "SIGKILL");
  return true;
}

export async function makeCertificate(dir: string): Promise<void> {
  const config = join(dir, "req.cnf");
  writeFileSync(config, "[req]\ndistinguished_name=dn\n[dn]\n");
  await run("openssl", [
    ...["req", "-x509", "-config", config, "-newkey", "ec", "-pkeyopt"],
    ...["ec_paramgen_curve:P-256", "-noenc", "-days", "2", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ...["-keyout", join(dir, "server.key"), "-out", join(dir, "server.crt")],
  ]);
}
