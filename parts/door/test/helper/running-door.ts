import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureHaproxy } from "@resontech/airgap/haproxy";
import { type DoorSettings, renderDoorConfig } from "../../src/door-config.ts";
import { freePort } from "@resontech/house/free-port";

/** Of a server certificate for `localhost`, and of who vouches for it. */
export type DoorCertificates = { caFile: string; certFile: string; keyFile: string };

/** The real front door as its own process, master and worker, as the appliance runs it. */
export class RunningDoor implements AsyncDisposable {
  readonly port: number;
  /** As the door reads them: who replaces both and reloads renews the certificate. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly #child: ChildProcess;
  #output = "";

  private constructor(child: ChildProcess, port: number, certFile: string) {
    this.#child = child;
    this.port = port;
    this.certFile = certFile;
    this.keyFile = keyFileOf(certFile);
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
  }

  /** @param dir its own folder, which it makes */
  static async start(
    dir: string,
    certificates: DoorCertificates,
    settings: Pick<DoorSettings, "coordinatorSocket"> &
      Partial<Omit<DoorSettings, "keycloak">> & {
        keycloak?: Omit<DoorSettings["keycloak"], "clientCertFile">;
      },
  ): Promise<RunningDoor> {
    mkdirSync(dir, { recursive: true });
    const certFile = join(dir, "server.crt");
    copyFileSync(certificates.certFile, certFile);
    copyFileSync(certificates.keyFile, keyFileOf(certFile));
    const port = settings.port ?? (await freePort());
    const config = renderDoorConfig({
      ...{ address: "127.0.0.1", port, name: "localhost", certFile },
      ...{ maxConnections: 400, threads: 2 },
      // Beside the other: a test keeps that one's path short.
      servingSocket: `${settings.coordinatorSocket}.serving`,
      ...settings,
      keycloak: {
        ...(settings.keycloak ?? { port: 1, caFile: certificates.caFile }),
        clientCertFile: certFile,
      },
    });
    const configFile = join(dir, "door.cfg");
    writeFileSync(configFile, config);
    const child = spawn(await ensureHaproxy(), ["-W", "-f", configFile], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { OPENSSL_CONF: "/dev/null" },
      detached: true,
    });
    const door = new RunningDoor(child, port, certFile);
    try {
      await door.#untilListening();
    } catch (error) {
      await door[Symbol.asyncDispose]();
      throw error;
    }
    return door;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get output(): string {
    return this.#output;
  }

  /** Reads certificate and configuration anew; resolves when a new worker serves. @throws Error when none does */
  async reload(limitMs = 60_000): Promise<void> {
    const before = this.#loads();
    this.#child.kill("SIGUSR2");
    for (const end = Date.now() + limitMs; this.#loads() === before; await sleep(20))
      if (Date.now() > end) throw new Error(`the door did not reload: ${this.#output}`);
  }

  #loads(): number {
    return this.#output.split("Loading success.").length;
  }

  async #untilListening(): Promise<void> {
    for (const end = Date.now() + 120_000; ; await sleep(20)) {
      if (this.#child.exitCode !== null || Date.now() > end)
        throw new Error(`the door does not listen: ${this.#output}`);
      if (this.#loads() > 1 && (await accepts(this.port))) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isRunning) return;
    const ended = once(this.#child, "exit");
    process.kill(-this.pid, "SIGTERM");
    await ended;
  }
}

const keyFileOf = (certFile: string): string => certFile.replace(/\.crt$/, ".key");

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: "127.0.0.1", port });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
