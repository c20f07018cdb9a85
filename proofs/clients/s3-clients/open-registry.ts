/** The real registry with one small image, and the coordinator's real token route before it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { REGISTRY_TOKEN_ISSUER } from "@resontech/contracts/coordinator-config";
import { renderRegistryConfig } from "@resontech/registry/registry-config";
import { linkRelease } from "@resontech/registry/link-release";
import { RegistryTokens } from "@resontech/coordinator/registry-tokens";
import { ensureEngine } from "@resontech/airgap/engines";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { startS3Engine } from "@resontech/coordinator/testing/s3-engine";
import { makeTestApp } from "@resontech/coordinator/testing/test-app";
import { makeRelease } from "@resontech/registry/testing/small-release";
import { freePort } from "@resontech/house/free-port";

const SERVICE = "registry.proof";
const LOGIN_S = 600;

export type OpenRegistry = AsyncDisposable & {
  host: string;
  /** A folder with the CA's `ca.crt`. */
  certs: string;
  login: { username: string; password: string };
};

export async function openRegistry(folder: string): Promise<OpenRegistry> {
  await using stack = new AsyncDisposableStack();
  const dir = join(folder, "registry");
  const [store, storage, certs] = [join(dir, "store"), join(dir, "storage"), join(dir, "certs")];
  mkdirSync(certs, { recursive: true });
  linkRelease(makeRelease(store, "1.2.3", ["one"]), store, storage);
  const engine = await startS3Engine(dir);
  stack.defer(() => engine.close());
  copyFileSync(engine.caFile, join(certs, "ca.crt"));
  const [key, cert] = [readFileSync(engine.keyFile, "utf8"), readFileSync(engine.certFile, "utf8")];
  const tokens = new RegistryTokens({
    service: SERVICE,
    keyPem: key,
    certPem: cert,
    now: Date.now,
  });
  const api = await makeTestApp(join(dir, "app"), engine, { registryTokens: tokens });
  stack.defer(() => api.close());

  const [port, realm] = [await freePort(), await freePort()];
  const door = createServer({ key, cert }, (request, response) => {
    const { authorization } = request.headers;
    api.app
      .inject({
        url: request.url ?? "/",
        headers: authorization === undefined ? {} : { authorization },
      })
      .then((answer) => {
        const challenge = answer.headers["www-authenticate"];
        response.writeHead(answer.statusCode, {
          "content-type": "application/json",
          ...(challenge === undefined ? {} : { "www-authenticate": String(challenge) }),
        });
        response.end(answer.body);
      })
      .catch((error: unknown) =>
        response.destroy(error instanceof Error ? error : new Error(String(error))),
      );
  }).listen(realm, "127.0.0.1");
  await once(door, "listening");
  stack.defer(() => {
    door.close();
    door.closeAllConnections();
  });
  const configFile = join(dir, "registry.yml");
  writeFileSync(
    configFile,
    renderRegistryConfig({
      ...{
        listen: `127.0.0.1:${port}`,
        publicUrl: `https://localhost:${port}`,
        storageDir: storage,
      },
      ...{ certFile: engine.certFile, keyFile: engine.keyFile },
      token: {
        ...{
          realm: `https://localhost:${realm}/token`,
          service: SERVICE,
          issuer: REGISTRY_TOKEN_ISSUER,
        },
        rootCertBundle: engine.caFile,
      },
    }),
  );
  const registry = spawn(await ensureEngine("registry"), ["serve", configFile], {
    stdio: "ignore",
  });
  const exited = once(registry, "exit");
  stack.defer(async () => {
    registry.kill("SIGTERM");
    await exited;
  });
  const ca = readFileSync(engine.caFile, "utf8");
  for (let attempt = 0; ; attempt++) {
    const isUp = await fetchWithCa(ca, `https://localhost:${port}/v2/`).then(
      () => true,
      () => false,
    );
    if (isUp) break;
    if (attempt > 200) throw new Error("the registry did not start");
    await sleep(50);
  }
  const owned = stack.move();
  return {
    ...{
      host: `localhost:${port}`,
      certs,
      login: api.passwords.issue("resontech/one", {}, LOGIN_S),
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
