/** Which database goes where, and since when: another schedule, another key or another backup is seen within a second. */
import { setTimeout as pause } from "node:timers/promises";
import { requireClaimed } from "@resontech/backup/claim-target";
import { followDatabase } from "@resontech/backup/follow-database";
import { openTarget } from "@resontech/backup/open-target";
import { recipientBytes } from "@resontech/backup/recovery-key";
import type { Target } from "@resontech/backup/target";
import type { Logger } from "pino";
import type { PartContext } from "../../parts/context.ts";
import { applianceName } from "../appliance-name.ts";
import { readBackupKeys } from "../backup-keys.ts";
import { readBackupSchedule, readBackupState } from "../backup-schedule.ts";
import { noteFollowed } from "../follow-state.ts";

const LOOK_MS = 1_000;

export type FollowAppliance = Pick<PartContext, "config" | "layout"> & {
  release: Pick<PartContext["release"], "version">;
  log: Logger;
};
type Wanted = { target: string; signer: string };

/** Follows until `signal`, and tries again what fails. @throws what no other try mends */
export async function followAppliance(
  context: FollowAppliance,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const wanted = readWanted(context);
    const ended = new AbortController();
    const following =
      wanted === null ? null : followOnto(context, wanted, AbortSignal.any([signal, ended.signal]));
    const isOver = following?.then(
      () => true,
      () => true,
    );
    do {
      const isLater = pause(LOOK_MS, false, { signal }).catch(() => false);
      if (await (isOver === undefined ? isLater : Promise.race([isOver, isLater]))) break;
    } while (!signal.aborted && isSame(readWanted(context), wanted));
    ended.abort();
    await following;
  }
}

async function followOnto(
  { layout, config, release, log }: FollowAppliance,
  { target }: Wanted,
  signal: AbortSignal,
): Promise<void> {
  const { keys, signingKeyPem } = readBackupKeys(layout);
  let [notedAtMs, told] = [0, ""];
  await followDatabase(
    {
      file: layout.data("coordinator", "coordinator.db"),
      openTarget: async (): Promise<Target> => {
        const opened = await openTarget(target);
        await requireClaimed(opened, applianceName({ config }), keys.signer);
        log.info({ target: opened.name }, "following");
        return opened;
      },
      recipient: recipientBytes(keys.recipient),
      ...{ signingKeyPem, release: release.version },
      onState: (state) => {
        if (state.atMs - notedAtMs < LOOK_MS && state.atMs >= notedAtMs) return;
        notedAtMs = state.atMs;
        noteFollowed(layout, state);
        if (state.failure === null) told = "";
      },
      onError: (err) => {
        // One that stays the same is told once.
        if (err.message !== told) log.error({ err }, "the database can't be followed");
        told = err.message;
      },
      wholeFor: () => readBackupState(layout).taken?.id ?? null,
    },
    signal,
  );
}

/** Reads what is to be followed; null where nothing is. */
function readWanted({ layout }: FollowAppliance): Wanted | null {
  const schedule = readBackupSchedule(layout);
  if (schedule === null) return null;
  return { target: schedule.target, signer: readBackupKeys(layout).keys.signer };
}

function isSame(one: Wanted | null, other: Wanted | null): boolean {
  return one?.target === other?.target && one?.signer === other?.signer;
}
