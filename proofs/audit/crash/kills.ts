/** Real kills: auditd is ended by SIGKILL at a random moment, from its start on, while a coordinator writes; then it must have kept all. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AuditdProcess } from "./auditd-process.ts";
import { Coordinator } from "./coordinator.ts";
import type { Ack } from "./promises.ts";
import { Rows } from "./rows.ts";
import { makeDiskFolders, takeUp } from "./try-image.ts";

/** From the start of the process: some are hit while they take up what the one before left. */
const MAX_LIFE_MS = 900;

export type KillRound = { broken: string[]; acks: number };

/** One log, killed so many times. */
export async function killAgainAndAgain(root: string, kills: number, random: () => number): Promise<KillRound[]> {
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
    await writeUntilKilled(auditd, coordinator, random() * MAX_LIFE_MS);
    const { broken } = await takeUp(auditd, { acks, checkpoints: [], commitments: rows.commitments, isInitialized: true });
    rounds.push({ broken, acks: acks.length - before });
  }
  return rounds;
}

async function writeUntilKilled(auditd: AuditdProcess, coordinator: Coordinator, lifeMs: number): Promise<void> {
  const killed = new AbortController();
  const kill = sleep(lifeMs).then(() => auditd.stop("SIGKILL"));
  kill.then(() => killed.abort());
  try {
    await auditd.start();
    await coordinator.write(Number.POSITIVE_INFINITY, killed.signal);
  } catch {
    // What it was told until then is what counts.
  }
  await kill;
}
