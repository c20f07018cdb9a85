import { execFileSync, spawn } from "node:child_process";
import { createPrivateKey, randomUUID, sign, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureEngine } from "@resontech/airgap/engines";
import { renderRegistryConfig } from "../../src/registry-config.ts";
import { freePort } from "@resontech/house/free-port";

/** The engine's numeric user: neither root nor the owner of a blob. */
const UID = 64_250;
const TOKEN = {
  realm: "https://localhost:1/token",
  service: "registry.test",
  issuer: "issuer.test",
};

export type RunningRegistry = AsyncDisposable & {
  url: string;
  ca: string;
  /** A pull token, as the coordinator makes them. */
  token: (repository: string, actions?: readonly string[]) => string;
};

/** A folder that other users can enter, unlike those of tests. */
export function openFolder(): string {
  const dir = mkdtempSync("/var/tmp/registry-test-");
  chmodSync(dir, 0o755);
  return dir;
}

/** The real engine under an unprivileged user, on a free port of loopback, with TLS and token authentication. */
export async function startRegistry(dir: string, storageDir: string): Promise<RunningRegistry> {
  const [keyFile, certFile, program] = [
    join(dir, "tls.key"),
    join(dir, "tls.crt"),
    join(dir, "registry"),
  ];
  execFileSync(
    "openssl",
    [
      ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost".split(
        " ",
      ),
      ..."-addext subjectAltName=DNS:localhost,IP:127.0.0.1".split(" "),
      ...["-keyout", keyFile, "-out", certFile],
    ],
    { stdio: "ignore" },
  );
  chmodSync(keyFile, 0o644);
  copyFileSync(await ensureEngine("registry"), program);
  chmodSync(program, 0o755);
  const port = await freePort();
  const configFile = join(dir, "registry.yml");
  writeFileSync(
    configFile,
    renderRegistryConfig({
      listen: `127.0.0.1:${port}`,
      publicUrl: `https://localhost:${port}`,
      storageDir,
      certFile,
      keyFile,
      token: { ...TOKEN, rootCertBundle: certFile },
    }),
  );
  const engine = spawn(program, ["serve", configFile], {
    uid: UID,
    gid: UID,
    env: {},
    cwd: dir,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  engine.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const exited = once(engine, "exit");
  for (let attempt = 0; !(await answers(port)); attempt++) {
    if (attempt === 100 || engine.exitCode !== null)
      throw new Error(`the registry did not start: ${errors}`);
    await sleep(50);
  }
  const key = createPrivateKey(readFileSync(keyFile));
  const x5c = [new X509Certificate(readFileSync(certFile)).raw.toString("base64")];
  return {
    url: `https://localhost:${port}`,
    ca: readFileSync(certFile, "utf8"),
    token(repository, actions = ["pull"]) {
      const now = Math.floor(Date.now() / 1000);
      const parts = [
        { alg: "ES256", typ: "JWT", x5c },
        {
          iss: TOKEN.issuer,
          aud: TOKEN.service,
          sub: "test",
          iat: now,
          nbf: now - 5,
          exp: now + 300,
          jti: randomUUID(),
          access: [{ type: "repository", name: repository, actions }],
        },
      ].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
      const signature = sign("sha256", Buffer.from(parts.join(".")), {
        key,
        dsaEncoding: "ieee-p1363",
      });
      return [...parts, signature.toString("base64url")].join(".");
    },
    async [Symbol.asyncDispose]() {
      engine.kill("SIGTERM");
      await exited;
      rmSync(dir, { recursive: true });
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
