import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { askKeycloak, type KeycloakAddress } from "@resontech/keycloak/address";
import { freePort } from "../network/free-port.ts";
import { type KeycloakPlace, leaseKeycloak } from "../pool-client.ts";
import { BOOTSTRAP, endKeycloak, launchKeycloak } from "./launch-keycloak.ts";
import { type CertificateFiles, copyCertificate, makeCertificate } from "./make-certificate.ts";
import { copyHome, startedKeycloak } from "./started-keycloak.ts";

export type RunningKeycloakOptions = {
  /** What browsers call it by, where that is not its own port. */
  origin?: string;
  /** PEM files of certificates that it trusts beside its own. */
  trusted?: readonly string[];
  /** Another one's certificate, which it has as well: both trust each other. */
  sameAs?: CertificateFiles;
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
  /** Of its own process; 0 of one that is only leased. */
  readonly pid: number;
  readonly #end: () => Promise<void>;

  private constructor(
    { origin, port, managementPort, certFile, keyFile }: KeycloakPlace,
    admin: KeycloakAdmin,
    pid: number,
    end: () => Promise<void>,
  ) {
    this.address = addressOf({ origin, port, certFile, keyFile });
    this.managementPort = managementPort;
    this.certFile = certFile;
    this.keyFile = keyFile;
    this.admin = admin;
    this.pid = pid;
    this.#end = end;
  }

  /**
   * One of the run's pool, which asks for certificates as the appliance's does and has our realm for nobody; its origin is its own. Without a pool, one
   * of its own that is the same.
   */
  static async lease(): Promise<RunningKeycloak> {
    const lease = await leaseKeycloak();
    if (lease === null) {
      const origin = `https://localhost:${await freePort()}`;
      return await RunningKeycloak.start({ origin, isOurs: true });
    }
    const { place, socket } = lease;
    const { username, password } = BOOTSTRAP;
    const admin = await KeycloakAdmin.asBootstrap(addressOf(place), username, password).catch(
      (error: unknown) => {
        socket.destroy();
        throw error;
      },
    );
    if (admin === null) {
      socket.destroy();
      throw new Error("the pool's Keycloak has lost its administrator");
    }
    return new RunningKeycloak(place, admin, 0, async () => void socket.destroy());
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
    await (sameAs === undefined ? makeCertificate(dir) : copyCertificate(sameAs, dir));
    const [port, managementPort] = [await freePort(), await freePort()];
    const place = {
      ...{ port, managementPort, origin: origin ?? `https://localhost:${port}` },
      ...{ certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key") },
    };
    const { child, admin } = await launchKeycloak({
      ...{ java: started.java, home, dir, address: addressOf(place), managementPort },
      trusted: [join(dir, "server.crt"), ...trusted],
      archiveOptions: started.archiveOptions,
    });
    return new RunningKeycloak(place, admin, child.pid!, async () => {
      await endKeycloak(child, "SIGKILL");
      rmSync(dir, { recursive: true, force: true });
    });
  }

  async ask(path: string): Promise<{ status: number; text: string }> {
    return await askKeycloak(this.address, path, { method: "GET", headers: {}, body: null });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

type Reached = Pick<KeycloakPlace, "origin" | "port" | "certFile" | "keyFile">;

function addressOf({ origin, port, certFile, keyFile }: Reached): KeycloakAddress {
  const caPem = readFileSync(certFile, "utf8");
  return { port, origin, caPem, client: { certFile, keyFile } };
}
