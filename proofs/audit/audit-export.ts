/**
 * A receiver of the log that is down, and then killed over and over in the middle of what it reads, ends with the same set of entries as the log. The receiver
 * is rsyslog over TLS; entries keep coming at one rate all the while.
 *
 * `npm run prove -- audit-export [MINUTES_DOWN [EVENTS_PER_S [KILLS]]]`; 30 minutes, 1,000 events/s and 10 kills unless said otherwise.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type AuditProducer, AuditUnavailable, connectProducer } from "@resontech/audit/producer";
import { addAuditOutProducer, AuditOutInstance } from "./instances/audit-out-instance.ts";
import { makeAuditdConfig, startAuditd, temporaryRoot } from "./instances/auditd-instance.ts";
import { issueCertificates } from "./export/certificates.ts";
import { RECEIVER_NAME, RsyslogReceiver, SENDER_NAME } from "./export/rsyslog-receiver.ts";
import type { ProofContext, ProofResult } from "../proof.ts";
import { freePort } from "@resontech/house/free-port";

const TICK_MS = 50;
const CATCH_UP_LIMIT_MS = 30 * 60_000;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [minutes = 30, eventsPerS = 1_000, kills = 10] = args.map(Number);
  const root = temporaryRoot();
  let auditd: ChildProcess | null = null;
  let out: AuditOutInstance | null = null;
  let receiver: RsyslogReceiver | null = null;
  try {
    const { caFile, issued } = issueCertificates(root, [RECEIVER_NAME, SENDER_NAME] as const);
    chmodSync(issued[SENDER_NAME].keyFile, 0o400);
    receiver = new RsyslogReceiver(root, await freePort(), { caFile, ...issued[RECEIVER_NAME] });

    const config = makeAuditdConfig(root);
    addAuditOutProducer(root, config);
    auditd = await startAuditd(root, config);
    const producer = await connectProducer({
      socketPath: config.producers[0]!.socket,
      boot: crypto.randomUUID(),
    });
    out = new AuditOutInstance(root, config, [
      {
        ...{ name: "siem", format: "ocsf" },
        target: {
          ...{
            kind: "syslog",
            host: "127.0.0.1",
            port: receiver.port,
            serverName: RECEIVER_NAME,
            caFile,
          },
          ...{
            client: issued[SENDER_NAME],
            facility: 13,
            enterpriseNumber: 32_473,
            confirmMs: 5_000,
          },
        },
      },
    ]);

    const load = new Load(producer, eventsPerS);
    progress(`the receiver is down for ${minutes} min at ${eventsPerS} events/s`);
    for (
      const until = Date.now() + minutes * 60_000;
      Date.now() < until;
      await pause(Math.min(10_000, until - Date.now()))
    )
      progress(`${load.acknowledged} events acknowledged; audit-out has ${out.rssMiB} MiB`);
    const backlog = await out.status();

    await receiver.start();
    const startedAt = performance.now();
    const unreadAtKills: number[] = [];
    for (let kill = 0; kill < kills; kill += 1) {
      const before = receiver.bytes;
      while (receiver.bytes === before) await pause(5);
      await pause(Math.random() * 400);
      unreadAtKills.push(await receiver.kill());
      await pause(200);
      await receiver.start();
      progress(`killed ${kill + 1} times; its file has ${receiver.bytes} bytes`);
    }
    const acknowledged = await load.end();
    progress(`${acknowledged.size} events are in the log; the receiver is let catch up`);
    let status = await out.status();
    for (
      const limit = Date.now() + CATCH_UP_LIMIT_MS;
      status.sinks[0]!.lag > 0 && Date.now() < limit;
      await pause(250)
    )
      status = await out.status();
    const caughtUpS = (performance.now() - startedAt) / 1_000;
    const memory = out.rssMiB;
    await producer.close();

    const seen = new Map<number, string>();
    let lines = 0;
    let jumpsAhead = 0;
    let previous = -1;
    for await (const { index, leafHash } of receiver.lines()) {
      lines += 1;
      seen.set(index, leafHash);
      // A connection begins at or before what came last, and goes on entry by entry.
      if (index > previous + 1) jumpsAhead += 1;
      previous = index;
    }
    const missing = [...acknowledged].filter(
      ([index, leafHash]) => seen.get(index) !== leafHash,
    ).length;
    const size = status.shards.at(-1)!.size;
    // One by one: the log goes on by a heartbeat now and then, and the receiver may have more than was there when it was asked.
    let gaps = 0;
    for (let index = 0; index < size; index += 1) if (!seen.has(index)) gaps += 1;
    return {
      ok:
        missing === 0 &&
        gaps === 0 &&
        jumpsAhead === 0 &&
        status.sinks[0]!.lag === 0 &&
        unreadAtKills.some((bytes) => bytes > 0),
      figures: {
        ...{ minutes_down: minutes, events_per_s: eventsPerS, kills },
        ...{
          unread_bytes_at_kills: unreadAtKills,
          events_acknowledged: acknowledged.size,
          events_given_up: load.givenUp,
          entries_in_log: size,
          backlog_entries: backlog.sinks[0]?.lag,
          backlog_state: backlog.sinks[0]?.state,
        },
        ...{ missing, gaps_in_indices: gaps, entries_out_of_order_in_a_connection: jumpsAhead },
        ...{
          lines_received: lines,
          repeated_percent: Number(((lines / seen.size - 1) * 100).toFixed(1)),
        },
        ...{
          caught_up_s: Number(caughtUpS.toFixed(1)),
          entries_per_s_while_catching_up: Math.round(lines / caughtUpS),
          audit_out_rss_mib: memory,
        },
      },
    };
  } finally {
    await receiver?.end("SIGKILL");
    await out?.end();
    if (auditd !== null) await ended(auditd);
    rmSync(root, { recursive: true, force: true });
  }
}

/** Events at one rate, until it ends. */
class Load {
  readonly #producer: AuditProducer;
  readonly #stop = new AbortController();
  readonly #leaves = new Map<number, string>();
  readonly #running: Promise<void>;
  givenUp = 0;

  constructor(producer: AuditProducer, eventsPerS: number) {
    this.#producer = producer;
    this.#running = this.#run(eventsPerS);
  }

  get acknowledged(): number {
    return this.#leaves.size;
  }

  /** Index and leaf hash of every event that the log acknowledged. */
  async end(): Promise<ReadonlyMap<number, string>> {
    this.#stop.abort();
    await this.#running;
    const last = Math.max(...[...this.#leaves.keys()].slice(-1_000));
    await this.#producer.covered(last);
    return this.#leaves;
  }

  /** One that a busy disk does not take within two seconds is given up by its producer, and may stand in the log all the same. */
  async #one(): Promise<void> {
    try {
      const { index, leafHash } = await this.#producer.fact(keyList());
      this.#leaves.set(index, leafHash);
    } catch (error) {
      if (!(error instanceof AuditUnavailable)) throw error;
      this.givenUp += 1;
    }
  }

  async #run(eventsPerS: number): Promise<void> {
    const from = performance.now();
    for (let sent = 0; !this.#stop.signal.aborted; await pause(TICK_MS)) {
      const due = Math.floor(((performance.now() - from) / 1_000) * eventsPerS) - sent;
      sent += due;
      await Promise.all(Array.from({ length: due }, () => this.#one()));
    }
  }
}

function keyList(): Parameters<AuditProducer["fact"]>[0] {
  return {
    type: "key.list",
    op: crypto.randomUUID(),
    actor: { sub: "usr-1", kind: "user" },
    object: { kind: "user", id: "usr-1" },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  await once(child, "exit");
}
