/** Composition: builds the front from its configuration, opens its links, listens. */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { connectProducer } from "@resontech/audit/producer";
import { EventLoopLag } from "@resontech/frame/event-loop-lag";
import type { Logger } from "pino";
import { closeOpenOperations } from "./audit/close-open-operations.ts";
import { Trail } from "./audit/trail.ts";
import { CoordinatorLink } from "./coordinator/coordinator-link.ts";
import { Directory } from "./coordinator/directory.ts";
import type { S3FrontConfig } from "./config.ts";
import { Door } from "./http/door.ts";
import { Engine } from "./http/engine.ts";
import { followCertificate } from "./http/follow-certificate.ts";
import { listen } from "./http/listen.ts";
import { QuotaKeeper } from "./quota/quota-keeper.ts";

/** Longest wait for requests under way when it stops. */
const STOP_MS = 10_000;

/** @throws AuditUnavailable when auditd does not welcome it: nothing may pass unrecorded */
export async function openFront(config: S3FrontConfig, log: Logger): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const { certFile, keyFile } = config.listen.tls;
  const tls = { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
  const producer = stack.use(
    await connectProducer({ socketPath: config.auditSocket, boot: randomUUID() }),
  );
  const closed = await closeOpenOperations(producer);
  if (closed > 0) log.warn({ operations: closed }, "closed what an earlier life left open");
  const trail = stack.use(
    new Trail(producer, (err) => log.warn({ err }, "a record is not acknowledged yet")),
  );
  const link = stack.use(new CoordinatorLink(config.coordinatorSocket));
  const engine = stack.use(new Engine(config.engineSocket));
  const door = new Door({
    ...{ engine, trail, link, log },
    directory: new Directory(link),
    quota: new QuotaKeeper(link),
    outputExport: config.outputExport,
    pageOrigin: config.pageOrigin ?? null,
    loopLag: stack.use(new EventLoopLag()),
  });
  const server = await listen(
    door,
    { host: config.listen.host, port: config.listen.port, tls },
    log,
  );
  stack.defer(async () => {
    const ended = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), STOP_MS);
    await ended;
    clearTimeout(timer);
  });
  stack.use(followCertificate(server, config.listen.tls, log));
  return stack.move();
}
