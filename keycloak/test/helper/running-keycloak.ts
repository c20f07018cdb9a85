import type { ChildProcess } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { askKeycloak, type KeycloakAddress } from "@resontech/keycloak/address";
import { freePort } from "../../../dev/free-port.ts";
import { endKeycloak, launchKeycloak } from "./launch-keycloak.ts";
import { makeCertificate } from "./make-certificate.ts";
import { copyHome, startedKeycloak } from "./started-keycloak.ts";

export type RunningKeycloakOptions = {
  /** What browsers call it by, where that is not its own port. */
  origin?: string;
  /** PEM files of certificates that it trusts beside its own. */
  trusted?: readonly string[];
  /** Another one, whose certificate it has as well: both trust each other. */
  sameAs?: RunningKeycloak | undefined;
  /** As on the appliance: our realm is in it, for another address, and it takes no connection without a certificate, such as its own. @default false */
  isOurs?: boolean;
};

/** A real Keycloak of its own, with TLS and a database of its own. */
export class RunningKeycloak implements AsyncDisposable {
  readonly address: KeycloakAddress;
  /** Of health and metrics, on 127.0.0.1. */
  readonly managementPort: number;
  readonly certFile: string;
  readonly keyFile: string;
  readonly admin: KeycloakAdmin;
  readonly #dir: string;
  readonly #child: ChildProcess;

  private constructor(
    address: KeycloakAddress,
    managementPort: number,
    dir: string,
    child: ChildProcess,
    admin: KeycloakAdmin,
  ) {
    this.address = address;
    this.managementPort = managementPort;
    this.#dir = dir;
    this.#child = child;
    this.admin = admin;
    this.certFile = join(dir, "server.crt");
    this.keyFile = join(dir, "server.key");
  }

  static async start({
    origin,
    trusted = [],
    sameAs,
    isOurs = false,
  }: RunningKeycloakOptions = {}): Promise<RunningKeycloak> {
    const started = await startedKeycloak(isOurs);
    const dir = mkdtempSync(join(tmpdir(), "rt-keycloak-"));
    const home = join(dir, "keycloak");
    copyHome(started.home, started.lib, home);
    if (sameAs === undefined) await makeCertificate(dir);
    else
      for (const name of ["server.crt", "server.key"])
        cpSync(join(sameAs.#dir, name), join(dir, name));
    const [port, managementPort] = [await freePort(), await freePort()];
    const address = {
      port,
      origin: origin ?? `https://localhost:${port}`,
      caPem: readFileSync(join(dir, "server.crt"), "utf8"),
      client: { certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key") },
    };
    const { child, admin } = await launchKeycloak({
      ...{ java: started.java, home, dir, address, managementPort },
      trusted: [join(dir, "server.crt"), ...trusted],
      archiveOptions: started.archiveOptions,
    });
    return new RunningKeycloak(address, managementPort, dir, child, admin);
  }

  async ask(path: string): Promise<{ status: number; text: string }> {
    return await askKeycloak(this.address, path, { method: "GET", headers: {}, body: null });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await endKeycloak(this.#child, "SIGKILL");
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
