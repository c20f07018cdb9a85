import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { shippedProgram } from "@resontech/house/shipped-program";
import { s3Front } from "@resontech/s3-front/part";
import { S3ObjectStore } from "../../src/storage/object-store.ts";
import { S3Transport } from "../../src/storage/s3-transport.ts";
import { S3Users } from "../../src/storage/s3-users.ts";
import { ensureEngine } from "@resontech/airgap/engines";
import type { S3Engine } from "./s3-engine.ts";
import { makeTestCa } from "@resontech/house/test-ca";
import { freePort } from "@resontech/house/free-port";

const REGION = "garage";
const WITHIN_MS = 120_000;

/** Sockets that the front needs: of auditd, which runs, and of the coordinator, which may come later. */
type Beside = { auditSocket: string; coordinatorSocket: string };

/** The real S3 engine with the real front before it, as an appliance has them: all requests go through the front. */
export async function startS3BehindFront(dir: string, beside: Beside): Promise<S3Engine> {
  const [ca, binary, port] = await Promise.all([makeTestCa(dir), ensureEngine("s3"), freePort()]);
  const volumePath = join(dir, "s3-data");
  for (const path of [volumePath, join(dir, "s3-versions"), join(dir, "s3-iam")])
    mkdirSync(path, { mode: 0o700 });
  const admin = {
    accessKeyId: `ADMIN${randomBytes(6).toString("hex")}`,
    secretAccessKey: randomBytes(24).toString("base64url"),
  };
  const engineSocket = join(dir, "engine");
  const engine = spawn(
    binary,
    [
      ...["--port", engineSocket, "--socket-perm", "0660", "--keep-alive", "--region", REGION],
      ...["--iam-dir", join(dir, "s3-iam"), "--health", "/healthz", "--quiet"],
      ...["posix", "--versioning-dir", join(dir, "s3-versions"), volumePath],
    ],
    {
      env: { ROOT_ACCESS_KEY_ID: admin.accessKeyId, ROOT_SECRET_ACCESS_KEY: admin.secretAccessKey },
      stdio: "ignore",
    },
  );
  const { certFile, keyFile } = ca;
  const config = {
    ...{ logLevel: "info", sockets: {}, dataDir: null },
    own: {
      listen: { host: "127.0.0.1", port, tls: { certFile, keyFile } },
      ...{ engineSocket, ...beside, outputExport: "open" },
    },
  };
  const configFile = join(dir, "s3-front.json");
  writeFileSync(configFile, JSON.stringify(config));
  const front = spawn(
    process.execPath,
    [...(s3Front.nodeFlags ?? []), shippedProgram("s3-front"), "--config", configFile],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let output = "";
  front.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  const close = async (): Promise<void> => {
    for (const child of [front, engine])
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, "exit");
        child.kill("SIGKILL");
        await ended;
      }
  };
  try {
    for (const deadline = Date.now() + WITHIN_MS; ; await sleep(25)) {
      if (output.includes('"msg":"listening"') && (await isUp(engineSocket))) break;
      if (front.exitCode !== null || engine.exitCode !== null || Date.now() > deadline)
        throw new Error(`the object store is not up: ${output}`);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const endpoint = `https://localhost:${port}`;
  const transport = new S3Transport({
    ...{ endpoint, region: REGION, credentials: admin },
    ca: readFileSync(ca.caFile, "utf8"),
  });
  return {
    ...{ endpoint, ...ca, region: REGION, admin, volumePath, transport },
    store: new S3ObjectStore(transport),
    users: new S3Users(transport),
    async close() {
      transport[Symbol.dispose]();
      await close();
    },
  };
}

async function isUp(socketPath: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  request({ socketPath, path: "/healthz", headers: { host: "engine" } }, (response) => {
    response.resume();
    resolve(response.statusCode === 200);
  })
    .on("error", () => resolve(false))
    .end();
  return await promise;
}
