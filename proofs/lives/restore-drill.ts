/**
 * A host that is lost while it works: a backup is taken and scheduled beneath a federated job, more is done after it, then what is on the target is cut
 * off, and the root is taken away. An empty root gets the same release, and the backup with what followed it is put back there.
 *
 *     npm run prove -- restore-drill
 */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { runChild } from "@resontech/house/run-child";
import type { LocalAppliance, Quickstart } from "@resontech/house/local-appliance";
import { auditReport } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { emptyFolder } from "@resontech/house/joined-node";
import type { ProofContext, ProofResult } from "../proof.ts";
import { LastingJob } from "./life/lasting-job.ts";

const ROUNDS = 40;
const JOB_MS = 400_000;
const AFTER_S = 10;
const MAX_RESTORE_S = 60;
const MAX_LOST_S = 1;
const FOLLOWED_WITHIN_MS = 60_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const first = await ProofAppliance.install(progress);
  const outside = emptyFolder(`${first.appliance.root}-backups`);
  try {
    const before = await workAndLose(first, outside, progress);
    const second = await ProofAppliance.install(progress, first.bundle);
    const figures = await (async () => {
      await using _ = second;
      return await restore(second, outside, before, progress);
    })();
    return {
      ok:
        figures.restore_s <= MAX_RESTORE_S &&
        figures.lost_s <= MAX_LOST_S &&
        figures.user &&
        figures.user_of_after &&
        figures.key &&
        figures.object &&
        figures.signs_in &&
        figures.job === "FINISHED" &&
        figures.admits,
      figures: { backup_s: before.backup_s, ...figures },
    };
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
}

type Before = {
  job: LastingJob;
  quickstart: Quickstart;
  backup_s: number;
  /** Milliseconds since the epoch. */
  lostAtMs: number;
};

async function workAndLose(
  installed: ProofAppliance,
  outside: string,
  progress: (line: string) => void,
): Promise<Before> {
  await using _ = installed;
  const { appliance } = installed;
  const quickstart = appliance.quickstart();
  progress("a person, an object, and a federated job");
  await appliance.command(["add-user", "of-before"]);
  const file = join(installed.folder("kept"), "kept.txt");
  writeFileSync(file, "of before");
  await shell(appliance, quickstart, "storage", "put", file, "kept/kept.txt");
  const digits = await installed.workstation("digits");
  const job = await LastingJob.train(appliance, digits, { rounds: ROUNDS }, progress);
  await job.untilRunning();
  await sleep(5_000);
  const key = await appliance.command(["backup", "key"]);
  writeFileSync(join(outside, "sheet.txt"), key, { mode: 0o600 });
  const from = Date.now();
  progress("the backup");
  const target = emptyFolder(join(outside, "target"));
  await appliance.command(["backup", "take", target]);
  const backupS = (Date.now() - from) / 1_000;
  await appliance.command(["backup", "schedule", target, "--every", "1d"]);
  await followed(appliance, target);
  await sleep(AFTER_S * 1_000);
  await appliance.command(["add-user", "of-after"]);
  await sleep(MAX_LOST_S * 1_000);
  progress("the host is lost");
  // What the target holds at this moment is what is left; the follower finds another folder there.
  const lostAtMs = Date.now();
  renameSync(target, leftOf(outside));
  return { job, quickstart, backup_s: tenths(backupS), lostAtMs };
}

/** Until the target has more of the database than the backup. */
async function followed(appliance: LocalAppliance, target: string): Promise<void> {
  for (const endsAt = Date.now() + FOLLOWED_WITHIN_MS; Date.now() < endsAt; await sleep(500)) {
    const text = await appliance.command(["backup", "list", target, "--json"]);
    const [newest] = JSON.parse(text) as { followedTo: string | null }[];
    if (newest?.followedTo != null) return;
  }
  throw new Error("the database is not followed");
}

const leftOf = (outside: string): string => join(outside, "left");

async function restore(
  installed: ProofAppliance,
  outside: string,
  { job, quickstart, lostAtMs }: Before,
  progress: (line: string) => void,
) {
  const { appliance } = installed;
  const from = Date.now();
  progress("put back on an empty root");
  const said = await appliance.command([
    ...["restore", leftOf(outside), "--recovery-key", join(outside, "sheet.txt")],
    ...["--yes", "--json"],
  ]);
  const { followed: newer } = JSON.parse(said.trim().split("\n").at(-1) ?? "") as {
    followed: { upTo: string } | null;
  };
  const upToMs = newer === null ? 0 : Date.parse(newer.upTo);
  await appliance.command(["audit", "open-shard", "--approver", "ann", "--approver", "bob"]);
  await appliance.command(["start"]);
  const restoreS = (Date.now() - from) / 1_000;
  progress(`healthy after ${restoreS.toFixed(1)} s`);
  const users = JSON.parse(await appliance.command(["user", "ls", "--json"])) as {
    username: string;
  }[];
  const names = users.map(({ username }) => username);
  const listed = await shell(appliance, quickstart, "storage", "ls", "kept/", "--json");
  const back = job.on(appliance);
  const byOldKey = await back.reply(`Bearer ${quickstart["RESON_API_KEY"] ?? ""}`);
  const ended = await back.untilEnded(JOB_MS);
  const browser = await launchApplianceBrowser(appliance);
  let signsIn = false;
  try {
    const person = await SignedInPerson.signIn(browser, appliance, "of-before");
    signsIn = await person.page.getByRole("navigation", { name: "Pages" }).isVisible();
  } finally {
    await browser.close();
  }
  const { verdicts } = await auditReport(appliance, installed.folder("audit"), []);
  return {
    restore_s: tenths(restoreS),
    lost_s: tenths(Math.max(0, lostAtMs - upToMs) / 1_000),
    user: names.includes("of-before"),
    user_of_after: names.includes("of-after"),
    key: byOldKey.status === 200,
    object: listed.includes("kept/kept.txt"),
    signs_in: signsIn,
    ...{ job: ended.status, attempt: ended.detail.attempt },
    admits: (verdicts["COMPLETENESS"]?.reason ?? "").includes("RECOVERED"),
  };
}

/** With the key pair and the address that people have from before. */
function shell(appliance: LocalAppliance, quickstart: Quickstart, ...words: string[]) {
  return runChild(join(appliance.root, "current", "bin", "resontech"), words, {
    ...{ env: { PATH: process.env["PATH"], ...quickstart }, quiet: true },
  });
}

function tenths(value: number): number {
  return Math.round(10 * value) / 10;
}
