/** Real kills: auditd is ended by SIGKILL at a random moment, from its start on, while a coordinator writes; then it must have kept all. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AuditdProcess } from "./auditd-process.ts";
import { Coordinator } from "./coordinator.ts";
import type { Ack } from "./promises.ts";
import { Rows } from "./rows.ts";
import { makeDiskFolders, takeUp } from "./try-image.ts";

/** A quarter are hit while they take up what the one before left, at the latest so long after the process was made. */
const TAKING_UP_SHARE = 0.25;
const MAX_TAKING_UP_MS = 500;
/** The others under load, so long after they listen. */
const MAX_LOAD_MS = 400;

export type KillRound = { broken: string[]; acks: number };

/** One log, killed so many times. */
export async function killAgainAndAgain(
  root: string,
  kills: number,
  random: () => number,
): Promise<KillRound[]> {
  const disk = join(root, "disk");
  mkdirSync(root);
  makeDiskFolders(disk);
  const auditd = new AuditdProcess(root, disk);
  await auditd.init();
  const rows = new Rows(random);
  const acks: Ack[] = [];
  const coordinator = new Coordinator(auditd, rows, random, (arrived) => acks.push(...arrived));
  const rounds: KillRound[] = [];
  for (let round = 0; round < kills; round++) {
    const before = acks.length;
    if (random() < TAKING_UP_SHARE) await killWhileTakingUp(auditd, random() * MAX_TAKING_UP_MS);
    else await killUnderLoad(auditd, coordinator, random() * MAX_LOAD_MS);
    const { commitments } = rows;
    const { broken } = await takeUp(auditd, {
      acks,
      checkpoints: [],
      commitments,
      isInitialized: true,
      turn: null,
    });
    rounds.push({ broken, acks: acks.length - before });
  }
  return rounds;
}

async function killWhileTakingUp(auditd: AuditdProcess, afterMs: number): Promise<void> {
  // It may be quicker, and listen.
  const started = auditd.start().catch(() => {});
  await sleep(afterMs);
  await auditd.stop("SIGKILL");
  await started;
}

async function killUnderLoad(
  auditd: AuditdProcess,
  coordinator: Coordinator,
  afterMs: number,
): Promise<void> {
  await auditd.start();
  const killed = new AbortController();
  const kill = sleep(afterMs)
    .then(() => auditd.stop("SIGKILL"))
    .then(() => killed.abort());
  // What it was told until then is what counts.
  await coordinator.write(Number.POSITIVE_INFINITY, killed.signal).catch(() => {});
  await kill;
}
