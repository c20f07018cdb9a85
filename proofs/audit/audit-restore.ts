/**
 * The log's folder put back from a backup ten minutes old: where a witness, an exporter or a producer has seen more, and where nobody has, nothing is signed
 * until two people open a new shard, which says what was lost.
 *
 * `npm run prove -- audit-restore [MINUTES]` (10 unless said)
 */
import {
  cpSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exportLog, exportProof } from "@resontech/audit/export";
import { connectProducer, type LeafRef } from "@resontech/audit/producer";
import { nodePlatform, verify } from "@resontech/verifier/judge";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { AuditOutInstance } from "./instances/audit-out-instance.ts";
import { temporaryRoot } from "./instances/auditd-instance.ts";
import { WitnessInstance } from "./instances/witness-instance.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const PAUSE_MS = 40;
/** In which a log that may not sign is watched. */
const WATCHED_MS = 3_000;
const DEADLINE_MS = 90_000;
/** Who knows more than the backup when the folder is put back. */
const KNOWN_BY = ["witness", "exporter", "producer", "nobody"] as const;
type KnownBy = (typeof KNOWN_BY)[number];
/** How auditd calls it. */
const WORD_OF: Readonly<Record<KnownBy, string>> = {
  witness: "witness",
  exporter: "reader",
  producer: "coordinator-gate",
  nobody: "restore",
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const minutes = Number(args[0] ?? 10);
  const root = temporaryRoot();
  try {
    const told = (by: KnownBy) => (line: string) => progress(`${by}: ${line}`);
    const rows = await Promise.all(
      KNOWN_BY.map((by) => restored(join(root, by[0]!), by, minutes * 60_000, told(by))),
    );
    return { ok: rows.every(({ faults }) => faults.length === 0), figures: { minutes, rows } };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function restored(root: string, by: KnownBy, forMs: number, say: (line: string) => void) {
  const faults: string[] = [];
  const expect = (holds: boolean, what: string): void => void (holds || faults.push(what));
  mkdirSync(root);
  const auditd = new AuditdFixture(root, {
    producers: ["coordinator-gate", "audit-out"].map((name) => ({
      name,
      family: name,
      socket: socketOf(root, name),
      gid: null,
    })),
  });
  auditd.init();
  const witness = by === "witness" ? await witnessOf(auditd) : null;
  let out: AuditOutInstance | null = null;
  try {
    // What a snapshot of a disk under load holds: as after a kill.
    await auditd.start();
    await write(auditd, 5_000);
    await auditd.stop("SIGKILL");
    const backup = join(root, "backup");
    cpSync(auditd.config.auditDir, backup, { recursive: true });
    await auditd.start();
    out = new AuditOutInstance(root, auditd.config, []);
    say(`backup taken; writing for ${forMs / 60_000} min`);
    const last = await write(auditd, forMs);
    if (witness !== null)
      await until(
        () => (witness.logs()[0]?.size ?? 0) > last.index,
        "the witness has seen the last entry",
      );
    await until(
      async () => ((await out!.status()).shards[0]?.size ?? 0) > last.index,
      "audit-out has seen the last entry",
    );
    const signed = { slug: auditd.currentSlug, size: auditd.checkpointSize() };
    await out.end();
    await auditd.stop("SIGKILL");

    rmSync(auditd.config.auditDir, { recursive: true });
    cpSync(backup, auditd.config.auditDir, { recursive: true });
    // Whoever puts back the log's folder puts back what else lies on the host, but for what this row is about.
    if (by !== "exporter") rmSync(out.stateDir, { recursive: true });
    if (by !== "producer") writeFileSync(join(auditd.config.auditDir, "restored"), "");
    const kept = auditd.checkpointSize();
    say(`put back to ${kept} of ${signed.size} entries`);

    // Left by the kill.
    for (const name of ["coordinator-gate", "audit-out"])
      rmSync(socketOf(root, name), { force: true });
    const starting = auditd.start();
    await until(() => existsSync(socketOf(root, "audit-out")), "auditd listens");
    const claim = by === "producer" ? { highestAck: last } : {};
    const refused = connectProducer({
      ...{
        socketPath: socketOf(root, "coordinator-gate"),
        boot: "after",
        connectTimeoutMs: DEADLINE_MS,
      },
      ...claim,
    });
    refused.catch(() => {});
    out = new AuditOutInstance(root, auditd.config, []);
    await starting;
    await sleep(WATCHED_MS);
    const { rolledBack } = (await auditd.control({ verb: "status" })) as {
      rolledBack: { seenSize: number; by: string } | null;
    };
    expect(auditd.checkpointSize() === kept, "something was signed before two people agreed");
    expect(rolledBack?.by === WORD_OF[by], `rolled back by ${rolledBack?.by}`);
    const seen = by === "nobody" ? kept : last.index + 1;
    expect((rolledBack?.seenSize ?? 0) >= seen, `seen is ${rolledBack?.seenSize}, not ${seen}`);
    const alone = (await auditd.control({ verb: "open-shard", approvers: ["ann", "ann"] })) as {
      error?: { code: string };
    };
    expect(alone.error?.code === "approvers_equal", "one person opened a shard");
    await auditd.control({ verb: "open-shard", approvers: ["ann", "bob"] });
    const producer = await refused;
    const { index } = await producer.fact(keyList());
    await producer.covered(index);
    const newDir = auditd.shardDir(auditd.currentSlug);
    let cosigned: boolean | null = null;
    if (witness !== null) {
      writeFileSync(join(root, "first.tlog-proof"), await exportProof(newDir, 0));
      await witness.end();
      witness.run(
        "admit",
        "--after-restore",
        auditd.config.policyFile,
        join(root, "first.tlog-proof"),
      );
      await witness.serve();
      // audit-out looks for new witnesses every ten seconds.
      cosigned = await reaches(async () => (await producer.witnessed(index)).witnessed);
      expect(cosigned, "the new shard is not cosigned");
      expect(
        witness.logs()[0]?.followedBy !== undefined,
        "the witness would go on with the old shard",
      );
    }
    await producer.close();
    const report = await verdictsOf(root, newDir, auditd.config.policyFile, index);
    const { recovered } = report.findings!;
    expect(
      report.verdicts.SIGNATURE.verdict === "PASS" && report.verdicts.INTEGRITY.verdict === "PASS",
      "the new shard does not verify",
    );
    expect(
      recovered?.from === kept && recovered.to >= seen,
      `RECOVERED says ${JSON.stringify(recovered)}`,
    );
    expect(auditd.checkpointSize() === kept, "the old shard was signed again");
    return {
      by,
      kept,
      signed: signed.size,
      rolledBack,
      recovered,
      cosigned,
      completeness: report.verdicts.COMPLETENESS.reason,
      faults,
    };
  } finally {
    await out?.end();
    await auditd.stop("SIGKILL");
    await witness?.end();
  }
}

async function witnessOf(auditd: AuditdFixture): Promise<WitnessInstance> {
  const witness = new WitnessInstance(join(auditd.root, "w"));
  const { policyFile } = auditd.config;
  const keys = witness
    .run("init", "--name", "witness.example/w1")
    .match(/[^\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+/g)!;
  witness.run("admit", "--first", policyFile);
  await witness.serve();
  const logs = readFileSync(policyFile, "utf8")
    .match(/^log .*\n/gm)!
    .join("");
  const lines = keys.map((key, at) => `witness w${at} ${key} ${witness.url}\n`).join("");
  writeFileSync(
    policyFile,
    `${logs}${lines}group site all ${keys.map((_, at) => `w${at}`).join(" ")}\nquorum site\n`,
  );
  return witness;
}

/** Entries for so long, each made durable before the next. */
async function write(auditd: AuditdFixture, forMs: number): Promise<LeafRef> {
  const producer = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: crypto.randomUUID(),
  });
  const endsAt = performance.now() + forMs;
  let last = await producer.fact(keyList());
  while (performance.now() < endsAt) {
    last = await producer.fact(keyList());
    await sleep(PAUSE_MS);
  }
  await producer.covered(last.index);
  await producer.close();
  return last;
}

async function verdictsOf(root: string, logDir: string, policyFile: string, index: number) {
  const file = join(root, "export.tar");
  await exportLog({ logDir, file, witnessedFor: index });
  return await verify({
    bundle: createReadStream(file),
    policy: readFileSync(policyFile),
    platform: nodePlatform,
  });
}

const socketOf = (root: string, name: string): string =>
  join(root, "run", name === "audit-out" ? "out.sock" : `${name}.sock`);

async function reaches(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const endsAt = performance.now() + DEADLINE_MS; performance.now() < endsAt; await sleep(50))
    if (await holds()) return true;
  return false;
}

/** @throws naming what never came */
async function until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  if (!(await reaches(holds))) throw new Error(`still not after ${DEADLINE_MS / 1_000} s: ${what}`);
}
