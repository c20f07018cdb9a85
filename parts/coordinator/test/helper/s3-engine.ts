import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { S3ObjectStore } from "../../src/storage/object-store.ts";
import { type S3Credentials, S3Transport } from "../../src/storage/s3-transport.ts";
import { S3Users } from "../../src/storage/s3-users.ts";
import { ensureEngine } from "@resontech/airgap/engines";
import { makeTestCa } from "@resontech/house/test-ca";
import { freePort } from "@resontech/house/free-port";

export type S3Engine = {
  endpoint: string;
  caFile: string;
  certFile: string;
  keyFile: string;
  region: string;
  admin: S3Credentials;
  /** Folder that the engine keeps objects in. */
  volumePath: string;
  transport: S3Transport;
  store: S3ObjectStore;
  users: S3Users;
  close(): Promise<void>;
};

/** Starts the real S3 engine under `dir`, with TLS and versioning. */
export async function startS3Engine(dir: string): Promise<S3Engine> {
  const binary = await ensureEngine("s3");
  const ca = await makeTestCa(dir);
  const volumePath = join(dir, "s3-data");
  for (const path of [volumePath, join(dir, "s3-versions"), join(dir, "s3-iam")])
    await mkdir(path, { mode: 0o700 });
  const admin = {
    accessKeyId: `ADMIN${randomBytes(6).toString("hex")}`,
    secretAccessKey: randomBytes(24).toString("base64url"),
  };
  const port = await freePort();
  const region = "garage";
  const engine = spawn(
    binary,
    [
      ...[
        "--port",
        `127.0.0.1:${port}`,
        "--region",
        region,
        "--iam-dir",
        join(dir, "s3-iam"),
        "--health",
        "/healthz",
        "--quiet",
      ],
      ...[
        "--cert",
        ca.certFile,
        "--key",
        ca.keyFile,
        "posix",
        "--versioning-dir",
        join(dir, "s3-versions"),
        volumePath,
      ],
    ],
    {
      env: { ROOT_ACCESS_KEY_ID: admin.accessKeyId, ROOT_SECRET_ACCESS_KEY: admin.secretAccessKey },
      stdio: "ignore",
    },
  );
  const exited = once(engine, "exit");
  const endpoint = `https://localhost:${port}`;
  const transport = new S3Transport({
    endpoint,
    region,
    ca: await readFile(ca.caFile, "utf8"),
    credentials: admin,
  });
  const store = new S3ObjectStore(transport);
  for (let attempt = 0; ; attempt++) {
    try {
      await store.ping();
      break;
    } catch (error) {
      if (attempt === 100 || engine.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return {
    endpoint,
    ...ca,
    region,
    admin,
    volumePath,
    transport,
    store,
    users: new S3Users(transport),
    async close() {
      transport[Symbol.dispose]();
      engine.kill("SIGTERM");
      await exited;
    },
  };
}
