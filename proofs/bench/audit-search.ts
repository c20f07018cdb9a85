/**
 * Searches in a log of a million entries, on the running audit-out: p50 and p99 of each kind of question, beside a walk of the whole index's pages. Then the
 * index is thrown away and made anew from the log.
 *
 * `npm run prove -- audit-search [ENTRIES]`; 1,000,000 unless said otherwise. Needs root: the configuration must be root's.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import { addAuditOutProducer, AuditOutInstance } from "../audit/instances/audit-out-instance.ts";
import {
  makeAuditdConfig,
  startAuditd,
  temporaryRoot,
} from "../audit/instances/auditd-instance.ts";
import { quantile } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const BATCH = 1_000;
const USERS = 500;
const QUESTIONS = 300;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const entries = Number(args[0] ?? 1_000_000);
  const root = temporaryRoot();
  let auditd: ChildProcess | null = null;
  let out: AuditOutInstance | null = null;
  try {
    const config = makeAuditdConfig(root);
    addAuditOutProducer(root, config);
    auditd = await startAuditd(root, config);
    const producer = await connectProducer({
      socketPath: config.producers[0]!.socket,
      boot: crypto.randomUUID(),
    });
    const ops = await fill(producer, entries, progress);
    const startedAt = performance.now();
    out = new AuditOutInstance(root, config, []);
    await untilIndexed(out, entries);
    const firstIndexS = (performance.now() - startedAt) / 1_000;
    progress(`verified and indexed after ${firstIndexS.toFixed(1)} s`);

    const size = (await out.status()).shards[0]!.size;
    const any = (): number => Math.floor(Math.random() * size);
    const user = (): string => `usr-${Math.floor(Math.random() * USERS)}`;
    const questions: Record<string, () => string> = {
      newest_100: () => "/events",
      by_type: () => "/events?type=key.list",
      by_actor: () => `/events?actor=${user()}`,
      by_operation: () => `/events?op=${ops[Math.floor(Math.random() * ops.length)]!}`,
      by_subject_and_type: () => `/events?sub=${user()}&type=key.revoke&order=oldest`,
      by_two_that_rarely_meet: () => `/events?actor=${user()}&outcome=not_found`,
      by_nothing_that_is_there: () => "/events?phase=denied&prod=coordinator-gate",
      one_with_proof: () => `/events/${any()}`,
      counts: () => "/stats",
    };
    const figures: Record<string, number> = {};
    for (const [name, ask] of Object.entries(questions)) {
      const times: number[] = [];
      for (let at = 0; at < QUESTIONS; at += 1) {
        const path = ask();
        const from = performance.now();
        await out.get(path);
        times.push(performance.now() - from);
      }
      figures[`${name}_p50_ms`] = Number(quantile(times, 0.5).toFixed(2));
      figures[`${name}_p99_ms`] = Number(quantile(times, 0.99).toFixed(2));
      progress(`${name}: p50 ${figures[`${name}_p50_ms`]} ms, p99 ${figures[`${name}_p99_ms`]} ms`);
    }
    const walked = await walk(out);
    const indexBytes = statSync(join(out.stateDir, "search.sqlite")).size;
    const rssMiB = out.rssMiB;

    writeFileSync(join(out.stateDir, "search.rebuild"), "");
    while ((await out.status()).index.behind === 0) await pause(50);
    const rebuildFrom = performance.now();
    await untilIndexed(out, entries);
    const rebuildS = (performance.now() - rebuildFrom) / 1_000;
    const rewalked = await walk(out);
    await producer.close();
    return {
      // Heartbeats come all the while.
      ok:
        walked.count >= size &&
        walked.isOrdered &&
        rewalked.count >= walked.count &&
        rewalked.isOrdered,
      figures: {
        ...{
          entries: size,
          first_index_s: Number(firstIndexS.toFixed(1)),
          rebuild_s: Number(rebuildS.toFixed(1)),
        },
        ...{
          rebuild_entries_per_s: Math.round(size / rebuildS),
          index_mib: Math.round(indexBytes / 1_048_576),
          audit_out_rss_mib: rssMiB,
        },
        ...{ walked_entries: walked.count, walked_entries_per_s: walked.perS },
        ...figures,
      },
    };
  } finally {
    await out?.end();
    if (auditd !== null && auditd.exitCode === null) {
      auditd.kill("SIGTERM");
      await once(auditd, "exit");
    }
    rmSync(root, { recursive: true, force: true });
  }
}

/** Three kinds of entries by five hundred users. @returns some of their operations */
async function fill(
  producer: AuditProducer,
  entries: number,
  progress: (line: string) => void,
): Promise<string[]> {
  const ops: string[] = [];
  let last = 0;
  for (let sent = 0; sent < entries; sent += BATCH) {
    const refs = Array.from({ length: Math.min(BATCH, entries - sent) }, (_, at) => {
      const op = crypto.randomUUID();
      if (at === 0) ops.push(op);
      const sub = `usr-${(sent + at) % USERS}`;
      const actor = { sub, kind: "user" } as const;
      if (at % 10 !== 0)
        return producer.fact({ type: "key.list", op, actor, object: { kind: "user", id: sub } });
      const revoke = {
        type: "key.revoke",
        op,
        actor,
        object: { kind: "key", id: `key-${sent + at}` },
      } as const;
      const requested = producer.requested(revoke);
      const outcome = { code: at % 100 === 0 ? "not_found" : "internal" };
      return requested.then(() => producer.outcome({ ...revoke, phase: "failed", outcome }));
    });
    last = (await Promise.all(refs)).at(-1)!.index;
    if (sent % 100_000 === 0) progress(`${sent} entries`);
  }
  await producer.covered(last);
  return ops;
}

async function untilIndexed(out: AuditOutInstance, entries: number): Promise<void> {
  for (;;) {
    const status = await out.status().catch(() => null);
    if (status !== null && (status.shards[0]?.size ?? 0) >= entries && status.index.behind === 0)
      return;
    await pause(100);
  }
}

/** Every page of everything, oldest first: each entry must come once, in order. */
async function walk(
  out: AuditOutInstance,
): Promise<{ count: number; isOrdered: boolean; perS: number }> {
  const from = performance.now();
  let count = 0;
  let isOrdered = true;
  for (let cursor = ""; ; ) {
    const page = await out.get<{ events: { index: number }[]; cursor: string; more: boolean }>(
      `/events?order=oldest&limit=1000${cursor === "" ? "" : `&cursor=${cursor}`}`,
    );
    for (const { index } of page.events) {
      if (index !== count) isOrdered = false;
      count += 1;
    }
    if (!page.more)
      return { count, isOrdered, perS: Math.round(count / ((performance.now() - from) / 1_000)) };
    cursor = page.cursor;
  }
}
