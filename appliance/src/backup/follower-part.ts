import { isBackupScheduled } from "./backup-schedule.ts";
import { readFollowed } from "./follow-state.ts";
import type { PartContext } from "../parts/context.ts";
import type { Part } from "../parts/part.ts";
import { processPart } from "../parts/process-part.ts";

/** It holds few things for long. */
const FOLLOWER_NODE_FLAGS = ["--max-old-space-size=256", "--max-semi-space-size=4"];
const FOLLOWER_SILENCE_MS = 15_000;

/** Follows the coordinator's database onto the target of scheduled backups, and runs only where there are some. Nobody's work waits for it. */
export function followerPart(context: PartContext): Part {
  const { layout, release } = context;
  return processPart(context, {
    name: "follower",
    after: ["coordinator"],
    // The target, its credentials and the key that signs are root's.
    user: "root",
    program: layout.release("bin", "node"),
    args: [
      ...FOLLOWER_NODE_FLAGS,
      ...[layout.release("app", "follower.mjs"), "--root", layout.root],
    ],
    loads: ["app/node_modules/better-sqlite3/"],
    port: null,
    version: release.version,
    isWanted: () => isBackupScheduled(layout),
    // That it is behind is said by how far it is; a target that is away does not make it unwell.
    isHealthy: async () => Date.now() - (readFollowed(layout)?.atMs ?? 0) < FOLLOWER_SILENCE_MS,
    oomScore: 0,
  });
}
