/** The real S3 engine on a port of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { ensureEngine } from "@resontech/airgap/engines";
import type { Test } from "tap";
import type { S3Store } from "../../src/worm/s3-request.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { until } from "@resontech/audit/testing/until";
import { freePort } from "@resontech/house/free-port";

/** @param isVersioning false: a store without versions can't lock */
export async function startS3Engine(t: Test, isVersioning = true): Promise<S3Store> {
  const folder = temporaryFolder(t);
  for (const name of ["data", "versions", "iam"]) mkdirSync(join(folder, name), { mode: 0o700 });
  const port = await freePort();
  const credentials = { accessKeyId: "ADMINTEST", secretAccessKey: crypto.randomUUID() };
  const engine = spawn(
    await ensureEngine("s3"),
    [
      ...[
        "--port",
        `127.0.0.1:${port}`,
        "--region",
        "garage",
        "--iam-dir",
        join(folder, "iam"),
        "--quiet",
        "posix",
      ],
      ...(isVersioning ? ["--versioning-dir", join(folder, "versions")] : []),
      join(folder, "data"),
    ],
    {
      env: {
        ROOT_ACCESS_KEY_ID: credentials.accessKeyId,
        ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
      stdio: "ignore",
    },
  );
  t.teardown(async () => {
    engine.kill("SIGKILL");
    if (engine.exitCode === null && engine.signalCode === null) await once(engine, "exit");
  });
  await until(() => isListening(port));
  return {
    endpoint: `http://127.0.0.1:${port}`,
    region: "garage",
    bucket: "audit-copy",
    ...credentials,
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(port, "127.0.0.1");
    probe.on("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.on("error", () => resolve(false));
  });
}
