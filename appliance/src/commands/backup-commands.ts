/** `appliance backup key | take | list` and `appliance restore`: state of the appliance on another disk or host, and back. */
import { createInterface } from "node:readline/promises";
import { resolve } from "node:path";
import { BackupError } from "@resontech/backup/backup-error";
import { backupIds, readManifest } from "@resontech/backup/find-backups";
import { openTarget } from "@resontech/backup/open-target";
import { type RecoveryKey, readRecoveryKey } from "@resontech/backup/recovery-key";
import { followedUpTo } from "@resontech/backup/restore-followed";
import type { Target } from "@resontech/backup/target";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { applianceName } from "../backup/appliance-name.ts";
import { makeBackupKeys, readBackupKeys, requireNoBackupKeys } from "../backup/backup-keys.ts";
import { readBackupSchedule, writeBackupSchedule } from "../backup/backup-schedule.ts";
import { parseEvery } from "../backup/decisions/due-backup.ts";
import { recordBackup } from "../backup/record-backup.ts";
import {
  bringConfiguration,
  goOnRestoring,
  restoreAppliance,
  type TriedBackup,
  tryBackup,
} from "../backup/restore-appliance.ts";
import { requireOutside } from "../backup/require-outside.ts";
import { takeApplianceBackup } from "../backup/take-appliance-backup.ts";
import type { PartContext } from "../parts/context.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { formatSize, formatSpan } from "../status/decisions/quantities.ts";
import { readSecret, readSecretFile } from "./read-secret.ts";

const KEEP = 24;
const MAX_KEEP = 1_000;
const BACKUP_ID = /^[0-9]{8}T[0-9]{6}Z$/;

export type Supervision = {
  /** Of the install. */
  root: () => string;
  /** Stops every part and waits. */
  stop: () => Promise<void>;
  /** Starts the supervisor, and waits until auditd can be asked for what comes next. */
  start: () => Promise<void>;
};

export function addBackupCommands(
  program: Command,
  shell: OperatorShell,
  supervision: Supervision,
): void {
  const { openContext, print, table, say } = shell;
  const progress = (name: string): void => void process.stderr.write(`  ${name}\n`);
  const backup = program
    .command("backup")
    .description("copies of the appliance's state, encrypted to a key that you keep on paper")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance backup key\n  appliance backup take /mnt/backup --keep 24\n  appliance backup list /mnt/backup\n  appliance restore /mnt/backup --drill",
    );

  leaves(backup.command("key"), { event: "admin.backup" })
    .description("make the recovery key: its sheet is shown once and kept nowhere")
    .option("--replace", "in place of another one, whose backups stay on their target", false)
    .action(async ({ replace }: { replace: boolean }) => {
      const context = openContext();
      if (!replace) requireNoBackupKeys(context.layout);
      await recordBackup(context.layout, { change: "key-made" });
      const sheet = makeBackupKeys(context.layout, applianceName(context));
      say(sheet.trimEnd());
      say("");
      say(
        "Print this, or copy it by hand, and keep it away from the appliance. Nothing shows it again.",
      );
    });

  leaves(backup.command("take <target>", { isDefault: true }), { event: "admin.backup" })
    .description(
      "take a backup now, into a folder, or into the bucket that a file of mode 0600 describes",
    )
    .option(
      "--keep <n>",
      "how many of the newest stay; none stays longer than 30 days",
      keeps,
      KEEP,
    )
    .option("--json", "one JSON line", false)
    .action(async (name: string, { keep, json }: { keep: number; json: boolean }) => {
      const context = openContext();
      await requireOutside(context.layout.root, name);
      const taken = await takeApplianceBackup(context, await targetOf(name), {
        ...{ keep, onPart: progress },
      });
      if (json) return print(taken);
      say(`backup     ${taken.id}`);
      say(`parts      ${taken.parts}, ${formatSize(taken.bytes)}`);
      say(
        `objects    ${taken.objects.count}, ${formatSize(taken.objects.bytes)}; new ${formatSize(taken.objects.writtenBytes)}`,
      );
      if (taken.removed.length > 0) say(`removed    ${taken.removed.join(", ")}`);
    });

  leaves(backup.command("schedule <target>"), { event: "admin.backup" })
    .description("have the appliance take backups by itself, in the place of the schedule before")
    .requiredOption("--every <span>", "like 30m, 1h or 1d: from 5m to 7d", every)
    .option(
      "--keep <n>",
      "how many of the newest stay; none stays longer than 30 days",
      keeps,
      KEEP,
    )
    .action(async (name: string, options: { every: number; keep: number }) => {
      const { layout } = openContext();
      readBackupKeys(layout);
      await requireOutside(layout.root, name);
      const { name: target } = await targetOf(name);
      await recordBackup(layout, { change: "scheduled" });
      const schedule = { everyMinutes: options.every, keep: options.keep };
      writeBackupSchedule(layout, { target: resolve(name), ...schedule });
      say(`a backup into ${target} every ${formatSpan(options.every * 60)}`);
    });

  leaves(backup.command("unschedule"), { event: "admin.backup" })
    .description("take no backups by itself any more; those that are there stay")
    .action(async () => {
      const { layout } = openContext();
      if (readBackupSchedule(layout) === null) return say("no backups are scheduled");
      await recordBackup(layout, { change: "unscheduled" });
      writeBackupSchedule(layout, null);
      say("no more backups are taken by itself");
    });

  leaves(backup.command("list <target>"), { none: "status" })
    .description("whole backups of a target, newest first")
    .option("--json", "one JSON line", false)
    .action(async (name: string, { json }: { json: boolean }) => {
      const context = openContext();
      const target = await targetOf(name);
      const { signer } = readBackupKeys(context.layout).keys;
      const upToMs = await followedUpTo(target);
      const found: (ListedBackup & { followedTo: string | null })[] = [];
      for (const id of await backupIds(target)) {
        const { takenAt, release, parts, objects } = await readManifest(target, id, signer);
        const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
        // What follows goes with the newest backup alone.
        const isFollowed = found.length === 0 && upToMs !== null && upToMs > Date.parse(takenAt);
        const followedTo = isFollowed ? new Date(upToMs).toISOString() : null;
        found.push({ id, takenAt, release, bytes, objects: objects.count, followedTo });
      }
      if (json) return print(found);
      table(
        ["BACKUP", "TAKEN", "RELEASE", "SIZE", "OBJECTS", "DATABASE FOLLOWED TO"],
        found.map(({ id, takenAt, release, bytes, objects, followedTo }) => [
          ...[id, takenAt, release, formatSize(bytes), String(objects), followedTo ?? "-"],
        ]),
        "no backup",
      );
    });

  leaves(program.command("restore [target]"), { event: "admin.backup" })
    .description(
      "put a backup in the place of this appliance's state, or try one with --drill; the release that wrote it must be installed here",
    )
    .option("--backup <id>", "one of `appliance backup list`; the newest unless said", idOf)
    .option("--recovery-key <file>", "the sheet as a file of mode 0600; typed unless given")
    .option(
      "--up-to <time>",
      "use what followed the backup up to then, like 2026-11-27T10:15:00Z; as far as it goes unless said",
      instant,
    )
    .option(
      "--drill",
      "check the whole backup beside the running appliance, and put nothing back",
      false,
    )
    .option("--yes", "do not ask", false)
    .option("--json", "one JSON line", false)
    .action(async (name: string | undefined, options: RestoreFlags) => {
      bringConfiguration(supervision.root());
      const context = openContext();
      const { layout } = context;
      if (!options.drill) {
        const goneOn = await goOnRestoring(layout, supervision.stop);
        if (goneOn !== null) {
          say(`went on with the restore of ${goneOn.backup}`);
          return await started(goneOn);
        }
      }
      if (name === undefined)
        throw new InvalidArgumentError(
          "nothing was broken off: name the folder or the bucket of the backup",
        );
      const target = await targetOf(name);
      const key = await recoveryKey(options.recoveryKey ?? null);
      const chosen = {
        ...{ target, id: options.backup ?? null, key, onPart: progress },
        upToMs: options.upTo ?? null,
      };
      if (options.drill) return await drill(context, chosen, options.json);
      const restored = await restoreAppliance(context, {
        ...chosen,
        stop: supervision.stop,
        agree: async (manifest) => {
          say(`backup     ${manifest.id} of ${manifest.appliance}, release ${manifest.release}`);
          if (!options.yes)
            await agreed(
              `What this appliance holds is put aside. Restore ${manifest.id}? [yes/no] `,
            );
        },
      });
      await started(restored);
      sayFollowed(restored);
      if (options.json) print(restored);
    });

  async function drill(
    { layout }: PartContext,
    chosen: Parameters<typeof tryBackup>[1],
    json: boolean,
  ): Promise<void> {
    const tried = await tryBackup(layout, chosen).catch(async (error: unknown) => {
      const reason = error instanceof BackupError ? error.code : "backup_failed";
      await recordBackup(layout, { change: "tried", reason });
      throw error;
    });
    await recordBackup(layout, {
      ...{ change: "tried", backup: tried.backup, objects: tried.objects.count },
    });
    if (json) return print(tried);
    say(`backup     ${tried.backup}, whole`);
    say(`parts      ${tried.parts} checked, each database opened`);
    sayFollowed(tried);
    say(`objects    ${tried.objects.count}, ${formatSize(tried.objects.bytes)} checked`);
    say(`log        ${tried.log.join(", ")} accepted by the offline verifier`);
  }

  function sayFollowed({ followed, takenAt }: Pick<TriedBackup, "followed" | "takenAt">): void {
    say(
      followed === null
        ? `database   as of the backup, ${takenAt}: nothing later that this release reads`
        : `database   up to ${followed.upTo}; all else as of the backup, ${takenAt}`,
    );
  }

  async function started({ aside, isHome }: { aside: string; isHome: boolean }): Promise<void> {
    await supervision.start();
    say(`put aside  ${aside}`);
    say("next       appliance audit open-shard --approver A --approver B");
    if (!isHome) say("lost       personal values behind the log: their keys are in no backup");
  }
}

type ListedBackup = {
  id: string;
  takenAt: string;
  release: string;
  bytes: number;
  objects: number;
};
type RestoreFlags = {
  backup?: string;
  upTo?: number;
  recoveryKey?: string;
  drill: boolean;
  yes: boolean;
  json: boolean;
};

async function targetOf(name: string): Promise<Target> {
  return await openTarget(resolve(name));
}

async function recoveryKey(file: string | null): Promise<RecoveryKey> {
  if (file !== null) return readRecoveryKey(readSecretFile(file));
  const words = ["AGE-SECRET-KEY-1", "rtbackup1"].map((begin) => `part that begins with ${begin}`);
  const typed = [];
  for (const word of words) typed.push(await readSecret(null, word, "--recovery-key"));
  return readRecoveryKey(typed.join("\n"));
}

/** @throws Error where nobody agrees */
async function agreed(question: string): Promise<void> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    if (process.stdin.isTTY && (await prompt.question(question)).trim() === "yes") return;
  } finally {
    prompt.close();
  }
  throw Object.assign(new Error("not agreed to; nothing was changed"), {
    ...{ code: "not_confirmed", hint: "run the same command again and agree, or add --yes" },
  });
}

function keeps(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= MAX_KEEP) return value;
  throw new InvalidArgumentError(`a number from 1 to ${MAX_KEEP} is meant`);
}

function every(text: string): number {
  const minutes = parseEvery(text);
  if (minutes !== null) return minutes;
  throw new InvalidArgumentError("a span from 5m to 7d is meant, like 30m, 1h or 1d");
}

function instant(text: string): number {
  const atMs = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,3})?Z$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw new InvalidArgumentError("a time like 2026-11-27T10:15:00Z is meant");
}

function idOf(text: string): string {
  if (BACKUP_ID.test(text)) return text;
  throw new InvalidArgumentError("a backup is named as `appliance backup list` shows it");
}
