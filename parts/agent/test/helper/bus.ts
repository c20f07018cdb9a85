import { writeFileSync } from "node:fs";
import { connect as dial } from "node:net";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import { startEngine, stopEngine } from "@resontech/house/engine-process";
import type { TestPki } from "@resontech/house/test-pki";
import { freePort } from "@resontech/house/free-port";

export type TestBus = { url: string; stop(): Promise<void>; restart(): Promise<void> };

/** The real server with mutual TLS and, for each node, the permissions that the coordinator's auth callout gives it. */
export async function startBus(
  dir: string,
  pki: TestPki,
  nodes: readonly string[],
  host: string,
): Promise<TestBus> {
  const port = await freePort(host);
  const users = nodes.map(
    (node) => `{ user: "CN=${node}", permissions: {
          publish: ["agent.${node}.>"]
          subscribe: ["agent.${node}.hint", "_INBOX_${node}.>"]
        } }`,
  );
  const config = join(dir, "nats.conf");
  writeFileSync(
    config,
    `
    listen: "${host}:${port}"
    max_payload: 8MB
    tls {
      cert_file: ${JSON.stringify(pki.serverCertFile)}
      key_file: ${JSON.stringify(pki.serverKeyFile)}
      ca_file: ${JSON.stringify(pki.rootFile)}
      verify_and_map: true
    }
    authorization {
      users: [
        { user: "CN=coordinator" }
        ${users.join("\n")}
      ]
    }
    `,
  );
  const program = await ensureEngine("nats");
  const start = () =>
    startEngine(
      program,
      ["-c", config],
      {},
      () =>
        new Promise((resolve) => {
          const socket = dial(port, host, () => {
            socket.destroy();
            resolve(true);
          });
          socket.once("error", () => resolve(false));
        }),
    );
  let child = await start();
  return {
    url: `tls://${host}:${port}`,
    stop: () => stopEngine(child, "SIGKILL"),
    async restart() {
      child = await start();
    },
  };
}
