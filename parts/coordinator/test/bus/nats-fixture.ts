import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAccount, createUser } from "@nats-io/nkeys";
import type { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import type { TestCa } from "../nodes/node-certificates.ts";
import { ensureEngine } from "@resontech/airgap/engines";

export const FLEET_ACCOUNT = "FLEET";

export type NatsFixture = AsyncDisposable & {
  url: string;
  config: CoordinatorConfig["nats"];
  process: ChildProcess;
  /** Every connection breaks, and no new one comes to stand until {@link mend}. */
  cut: () => Promise<void>;
  mend: () => Promise<void>;
};

/** The real server on a free port: mutual TLS, every connection but the coordinator's is put to the auth callout. */
export async function startNats(dir: string, ca: TestCa): Promise<NatsFixture> {
  const user = createUser();
  const account = createAccount();
  const seedFile = (name: string, seed: Uint8Array) => {
    const file = join(dir, name);
    writeFileSync(file, seed, { mode: 0o600 });
    return file;
  };
  const configFile = join(dir, "nats.conf");
  writeFileSync(
    configFile,
    `
    listen: "127.0.0.1:-1"
    max_payload: 8MB
    tls {
      cert_file: ${JSON.stringify(ca.serverCertFile)}
      key_file: ${JSON.stringify(ca.serverKeyFile)}
      ca_file: ${JSON.stringify(ca.rootCertFile)}
      verify: true
    }
    accounts {
      ${FLEET_ACCOUNT} { users: [ { nkey: ${user.getPublicKey()} } ] }
      SYS {}
    }
    system_account: SYS
    authorization {
      timeout: 5
      auth_callout {
        issuer: ${account.getPublicKey()}
        account: ${FLEET_ACCOUNT}
        auth_users: [ ${user.getPublicKey()} ]
      }
    }
    `,
    { mode: 0o600 },
  );
  let server = await runNats(["-c", configFile]);
  const { port } = server;
  const url = `tls://127.0.0.1:${port}`;
  return {
    url,
    get process() {
      return server.process;
    },
    cut: async () => await server[Symbol.asyncDispose](),
    mend: async () => {
      server = await runNats(["-c", configFile, "-p", String(port)]);
    },
    config: {
      url,
      caFile: ca.rootCertFile,
      certFile: ca.serverCertFile,
      keyFile: ca.serverKeyFile,
      userSeedFile: seedFile("user.seed", user.getSeed()),
      accountSeedFile: seedFile("account.seed", account.getSeed()),
      account: FLEET_ACCOUNT,
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** The real server as these arguments have it; they say that it listens on a free port of 127.0.0.1. */
export async function runNats(
  args: readonly string[],
): Promise<AsyncDisposable & { port: number; process: ChildProcess }> {
  const child = spawn(await ensureEngine("nats"), args, {
    stdio: ["ignore", "ignore", "pipe"],
  });
  return {
    port: await listeningPort(child),
    process: child,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

/** The server logs where it listens; nothing else knows the port before. Its log is read to the end: a closed pipe would kill it. */
function listeningPort(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let log = "";
  child.stderr!.on("data", (chunk: Buffer) => {
    log += chunk.toString("utf8");
    const port = /Listening for client connections on 127\.0\.0\.1:(\d+)/.exec(log)?.[1];
    if (port !== undefined && log.includes("Server is ready")) resolve(Number(port));
  });
  child.once("exit", () => reject(new Error(`nats-server ended: ${log}`)));
  return promise;
}
