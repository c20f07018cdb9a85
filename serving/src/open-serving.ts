/** Composition: the routes, the pool, the records, the server on its socket. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { connectProducer } from "@resontech/audit/producer";
import type { ServingConfig } from "@resontech/contracts/serving-config";
import type { Logger } from "pino";
import { Admissions } from "./admissions.ts";
import { makeGateway } from "./gateway.ts";
import { CallJournal } from "./records/call-journal.ts";
import { CallRecorder } from "./records/call-recorder.ts";
import { EMPTY_SHA256 } from "./records/tally.ts";
import { ReplicaPool } from "./replica-pool.ts";
import { RouteFollower } from "./route-follower.ts";

/** @throws AuditUnavailable when auditd does not welcome it: no call may pass unrecorded */
export async function openServing(config: ServingConfig, log: Logger): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const read = (file: string) => readFileSync(file, "utf8");
  const pool = stack.use(
    new ReplicaPool({
      ...{ cert: read(config.certFile), key: read(config.keyFile), ca: read(config.rootCertFile) },
    }),
  );
  const producer = stack.use(
    await connectProducer({ socketPath: config.auditSocket, boot: randomUUID() }),
  );
  const { journal, open } = await CallJournal.open(config.callsDir);
  stack.use(journal);
  const records = stack.use(
    new CallRecorder(journal, producer, (err) => log.warn({ err }, "a batch is not on record yet")),
  );
  if (open.length > 0)
    log.warn({ calls: open.length }, "an earlier life left calls without an end");
  for (const id of open)
    records.end({
      ...{ kind: "end", id, at: new Date().toISOString(), outcome: "gateway_ended", status: null },
      ...{ answerSha256: EMPTY_SHA256, answerBytes: 0, usage: null },
    });
  const admissions = stack.use(new Admissions(() => routes.noteChange()));
  const routes: RouteFollower = stack.use(
    new RouteFollower(
      config.routesSocket,
      {
        follow: (told) => {
          admissions.follow(told);
          pool.keep(told.flatMap(({ replicas }) => replicas));
        },
        report: () => admissions.report(),
      },
      log,
    ),
  );
  const server = makeGateway({ routes, admissions, pool, records, log });
  await rm(config.socket, { force: true });
  server.listen(config.socket);
  await once(server, "listening");
  // Its folder says who may enter.
  await chmod(config.socket, 0o660);
  stack.defer(async () => {
    const closed = once(server, "close");
    server.close();
    // Those that wait would hold the end up for as long as a wake takes.
    admissions[Symbol.dispose]();
    server.closeIdleConnections();
    await closed;
  });
  return stack.move();
}
