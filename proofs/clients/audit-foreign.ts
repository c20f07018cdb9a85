/**
 * A verifier that shares no code with ours checks our log's folder, and fails on every altered copy of it: Tessera's fsck as a library, the
 * formats and Merkle packages of transparency-dev, Go's note, filippo.io/mldsa. Needs Go and its module proxy or cache.
 */
import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportLog } from "@resontech/audit/export";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import { alterations, linkedCopy, wholeCopy } from "./audit-foreign/altered-copies.ts";
import {
  logDirOf,
  makeAuditdConfig,
  startAuditd,
  temporaryRoot,
} from "../audit/instances/auditd-instance.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const VERIFIER = fileURLToPath(import.meta.resolve("@resontech/verifier/main"));
/** One bundle, more than one, a level more, and a level more again with partial tiles of each. */
const SIZES = [1, 255, 256, 1_000, 30_000, 70_000];
const FORKED_AT = 30_000;
const MIN_ALTERED = 20;

type Judged = { what: string; foreign: string | null; ours: string | null };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const root = temporaryRoot();
  let auditd: ChildProcess | null = null;
  try {
    const program = join(root, "foreign");
    const built = spawnSync("go", ["build", "-o", program, "."], {
      cwd: join(import.meta.dirname, "audit-foreign/go"),
      encoding: "utf8",
    });
    if (built.status !== 0) throw new Error(`go build: ${built.stderr}`);
    const home = join(root, "home");
    mkdirSync(home);
    const config = makeAuditdConfig(home);
    const logDir = logDirOf(config);
    auditd = await startAuditd(home, config);
    const kept = join(root, "kept");
    const fork = join(root, "fork");
    const verified: unknown[] = [];
    const foreign = (
      dir: string,
      policy = config.policyFile,
      old = kept,
    ): { ok: string } | { failure: string } => {
      const { status, stdout, stderr } = spawnSync(program, [dir, policy, old], {
        encoding: "utf8",
      });
      return status === 0 ? { ok: stdout.trim() } : { failure: stderr.trim() };
    };
    for (const size of SIZES) {
      const producer = await connectProducer({
        socketPath: config.producers[0]!.socket,
        boot: crypto.randomUUID(),
      });
      await growTo(producer, size);
      await producer.close();
      // The first one is kept from then on: each later tree must go on from it.
      if (verified.length === 0) copyFileSync(join(logDir, "checkpoint"), kept);
      const result = foreign(logDir);
      progress(JSON.stringify(result));
      if ("failure" in result) return { ok: false, figures: { verified, failure: result.failure } };
      verified.push(JSON.parse(result.ok));
      if (size !== FORKED_AT) continue;
      await stop(auditd);
      wholeCopy(home, fork);
      auditd = await startAuditd(home, config);
    }
    await stop(auditd);
    auditd = null;

    const size = Number(readFileSync(join(logDir, "checkpoint"), "utf8").split("\n")[1]);
    const altered: Judged[] = [];
    const judge = async (
      what: string,
      dir: string,
      policy = config.policyFile,
      old = kept,
    ): Promise<void> => {
      const result = foreign(dir, policy, old);
      const judged = {
        what,
        foreign: "failure" in result ? result.failure.slice(0, 160) : null,
        ours: await oursOf(dir, policy, old),
      };
      altered.push(judged);
      progress(
        `${what}: ${judged.foreign ?? "NOT NOTICED"} | ours: ${judged.ours ?? "NOT NOTICED"}`,
      );
    };
    const newest = join(root, "newest");
    copyFileSync(join(logDir, "checkpoint"), newest);
    const copy = join(root, "copy");
    for (const { what, apply } of alterations(size, {
      dir: logDirOf({ ...config, auditDir: join(fork, "audit") }),
    })) {
      linkedCopy(logDir, copy);
      apply(copy);
      // Who kept the newest checkpoint sees that an older one is served.
      await judge(what, copy, config.policyFile, what.startsWith("yesterday") ? newest : kept);
      rmSync(copy, { recursive: true });
    }
    auditd = await forkOf(home, fork, size);
    await stop(auditd);
    auditd = null;
    await judge(
      "another history, signed by the log's own keys",
      logDirOf({ ...config, auditDir: join(fork, "audit") }),
      config.policyFile,
      newest,
    );
    const stranger = join(root, "stranger");
    mkdirSync(stranger);
    const other = makeAuditdConfig(stranger);
    await stop(await startAuditd(stranger, other));
    await judge("keys of another log of that name", logDir, other.policyFile);

    const missedByForeign = altered
      .filter(({ foreign }) => foreign === null)
      .map(({ what }) => what);
    const missedByOurs = altered.filter(({ ours }) => ours === null).map(({ what }) => what);
    const ok =
      altered.length >= MIN_ALTERED && missedByForeign.length === 0 && missedByOurs.length === 0;
    const lines =
      readFileSync(join(import.meta.dirname, "audit-foreign/go/main.go"), "utf8").split("\n")
        .length - 1;
    return {
      ok,
      figures: {
        programLines: lines,
        honest: verified.length,
        honestRefused: 0,
        altered: altered.length,
        missedByForeign,
        missedByOurs,
        verified,
        reasons: altered,
      },
    };
  } finally {
    if (auditd !== null) await stop(auditd);
    rmSync(root, { recursive: true, force: true });
  }
}

async function growTo(producer: AuditProducer, size: number): Promise<void> {
  let index = (await producer.status()).size - 1;
  for (let missing = size - index - 1; missing > 0; missing -= 1_000) {
    const batch = Array.from({ length: Math.min(missing, 1_000) }, () =>
      producer.fact({
        type: "key.list",
        op: crypto.randomUUID(),
        actor: { sub: "usr-1", kind: "user" },
        object: { kind: "user", id: "usr-1" },
      }),
    );
    index = (await Promise.all(batch)).at(-1)!.index;
  }
  await producer.covered(index);
}

/** The same log and keys at an older size, which then goes its own way until it is longer. */
async function forkOf(home: string, fork: string, size: number): Promise<ChildProcess> {
  const text = readFileSync(join(home, "auditd.json"), "utf8").replaceAll(`${home}/`, `${fork}/`);
  const config = JSON.parse(text) as ReturnType<typeof makeAuditdConfig>;
  writeFileSync(join(fork, "auditd.json"), text);
  const auditd = await startAuditd(fork, config);
  const producer = await connectProducer({
    socketPath: config.producers[0]!.socket,
    boot: crypto.randomUUID(),
  });
  await growTo(producer, size + 1_000);
  await producer.close();
  return auditd;
}

/** Why our verifier, or already the export, refuses the folder; null when it does not. */
async function oursOf(dir: string, policy: string, known: string): Promise<string | null> {
  const file = `${dir}.tar`;
  try {
    await exportLog({ logDir: dir, file });
  } catch (error) {
    return `export: ${error instanceof Error ? error.message : String(error)}`.slice(0, 160);
  }
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [VERIFIER, file, "--policy", policy, "--known", known, "--json"],
    { encoding: "utf8" },
  );
  rmSync(file);
  if (status === 0) return null;
  if (!stdout.startsWith("{")) return `exit code ${status}: ${stderr.trim().slice(0, 140)}`;
  const { verdicts } = JSON.parse(stdout) as {
    verdicts: Record<string, { verdict: string; reason: string }>;
  };
  const failed = Object.entries(verdicts).filter(([, { verdict }]) => verdict === "FAIL");
  return (
    failed
      .map(([name, { reason }]) => `${name}: ${reason}`)
      .join("; ")
      .slice(0, 160) || `exit code ${status}`
  );
}

async function stop(auditd: ChildProcess): Promise<void> {
  if (auditd.exitCode !== null) return;
  auditd.kill("SIGTERM");
  await once(auditd, "exit");
}
