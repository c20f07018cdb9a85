/** Composition: the routes, the pool, the server on its socket. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import type { ServingConfig } from "@resontech/contracts/serving-config";
import type { Logger } from "pino";
import { makeGateway } from "./gateway.ts";
import { ReplicaPool } from "./replica-pool.ts";
import { RouteFollower } from "./route-follower.ts";

export async function openServing(config: ServingConfig, log: Logger): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const read = (file: string) => readFileSync(file, "utf8");
  const routes = stack.use(new RouteFollower(config.routesSocket, log));
  const pool = stack.use(
    new ReplicaPool({
      ...{ cert: read(config.certFile), key: read(config.keyFile), ca: read(config.rootCertFile) },
    }),
  );
  const server = makeGateway({ routes, pool, log });
  await rm(config.socket, { force: true });
  server.listen(config.socket);
  await once(server, "listening");
  // Its folder says who may enter.
  await chmod(config.socket, 0o660);
  stack.defer(async () => {
    const closed = once(server, "close");
    server.close();
    server.closeIdleConnections();
    await closed;
  });
  return stack.move();
}
