/** Composition: the routes, the pool, the records, the server on its socket. */
import { readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import type { ServingConfig } from "./config.ts";
import type { Logger } from "pino";
import { Admissions } from "./admissions.ts";
import { CallbackSpool } from "./callbacks/callback-spool.ts";
import { Callbacks } from "./callbacks/callbacks.ts";
import { makeGateway } from "./gateway.ts";
import { listen } from "./listen.ts";
import { KeyBudgets } from "./limits/key-budgets.ts";
import { GatewayNumbers } from "./numbers/gateway-numbers.ts";
import { AllowedHosts } from "./outbound/allowed-hosts.ts";
import { Outbound } from "./outbound/outbound.ts";
import { CallJournal } from "./records/call-journal.ts";
import { CallRecorder } from "./records/call-recorder.ts";
import { CallRefusals } from "./records/call-refusals.ts";
import { EndNotes } from "./records/end-notes.ts";
import { EMPTY_SHA256 } from "./records/tally.ts";
import { ReplicaPool } from "./replica-pool.ts";
import { RouteFollower } from "./route-follower.ts";
import { JournalUsage } from "./usage/journal-usage.ts";

/** Callers wait in the socket for so long until the coordinator has told who answers; without a word they are told that nobody is known. */
const FIRST_WORD_MS = 2_000;

/**
 * @param fd of the bound socket that it listens on; null: it makes its own
 * @throws AuditUnavailable when auditd does not welcome it: no call may pass unrecorded
 */
export async function openServing(
  config: ServingConfig,
  log: Logger,
  fd: number | null = null,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const producer = stack.use(
    await connectProducer({ socketPath: config.auditSocket, boot: randomUUID() }),
  );
  stack.use(await openGateway(config, producer, log, fd));
  return stack.move();
}

/** All of it but the way to the log. */
export async function openGateway(
  config: Omit<ServingConfig, "auditSocket">,
  producer: Pick<AuditProducer, "fact" | "connected">,
  log: Logger,
  fd: number | null = null,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const read = (file: string) => readFileSync(file, "utf8");
  const pool = stack.use(
    new ReplicaPool({
      ...{ cert: read(config.certFile), key: read(config.keyFile), ca: read(config.rootCertFile) },
    }),
  );
  const { journal, open } = await CallJournal.open(config.callsDir);
  stack.use(journal);
  const { notes, left } = EndNotes.open(config.callsDir);
  stack.use(notes);
  const records = stack.use(
    new CallRecorder(journal, notes, producer, (err) =>
      log.warn({ err }, "a batch is not on record yet"),
    ),
  );
  if (open.length > 0)
    log.warn({ calls: open.length }, "an earlier life left calls without an end");
  for (const id of open)
    records.end(
      left.get(id) ?? {
        ...{
          kind: "end",
          id,
          at: new Date().toISOString(),
          outcome: "gateway_ended",
          status: null,
        },
        ...{ answerSha256: EMPTY_SHA256, answerBytes: 0, usage: null },
      },
    );
  const refusals = stack.use(
    new CallRefusals(producer, (err) => log.warn({ err }, "refused keys are not on record yet")),
  );
  const numbers = new GatewayNumbers();
  const usage = stack.use(
    new JournalUsage(config.callsDir, (err) => log.warn({ err }, "the journal can't be read")),
  );
  const admissions = stack.use(new Admissions(() => routes.noteChange()));
  const routes: RouteFollower = stack.use(
    new RouteFollower(
      config.routesSocket,
      {
        follow: (told) => {
          admissions.follow(told);
          numbers.keep(told.map(({ deployment }) => deployment));
          pool.keep(told.flatMap(({ replicas }) => replicas));
        },
        report: () => admissions.report(),
        numbers: () => numbers.all(),
        usage: (isAll) => (isAll ? usage.all() : usage.changed()),
      },
      log,
    ),
  );
  const budgets = stack.use(new KeyBudgets());
  const { hostsFile, s3 } = config.outbound;
  const hosts = new AllowedHosts(hostsFile, (err) =>
    log.error({ err }, "no host outside may be dialled: the list of them can't be read"),
  );
  const outbound = new Outbound(hosts, {
    ...{ s3, rootPem: read(config.trustFile ?? config.rootCertFile) },
  });
  const spool = await CallbackSpool.open(config.callbacksDir, (err) =>
    log.error({ err }, "a callback of an earlier life can't be read"),
  );
  const callbacks = stack.use(new Callbacks({ spool, outbound, records, log }));
  const server = makeGateway({
    ...{ routes, admissions, budgets, numbers, pool, records, refusals, outbound, callbacks, log },
  });
  await routes.heard(FIRST_WORD_MS);
  stack.use(await listen(server, { path: config.socket, fd }));
  // Those that wait would hold the end up for as long as a wake takes.
  stack.defer(() => admissions[Symbol.dispose]());
  return stack.move();
}
