/** The follower: brings the coordinator's database onto the target of scheduled backups, and runs only where there are some. Nobody's work waits for it. */
import { defineHostPart } from "@resontech/frame/define-part";
import { type Finding, type FindingFacts, warning } from "@resontech/frame/finding";
import { followedIn } from "./src/followed.ts";

const NAME = "follower";
/** It holds few things for long. */
const NODE_FLAGS = ["--max-old-space-size=256", "--max-semi-space-size=4"];
/** A second is usual. */
const BEHIND_S = 10;

function behindFindings({ followed }: FindingFacts): Finding[] {
  if (followed === null || followed.behindS <= BEHIND_S) return [];
  const { target, behindS, failure } = followed;
  return [
    warning(
      "backup_behind",
      `what was done in the last ${behindS} s is not on ${target} yet${failure === null ? "" : ` (${failure})`}: it would be lost with this host`,
      `look that ${target} is mounted, has room and is fast enough: appliance logs follower`,
    ),
  ];
}

/** Root's: the target, its credentials and the key that signs are. */
export const follower = defineHostPart({
  ...{ name: NAME, user: "root", hosts: ["appliance"] },
  isWanted: ({ layout, has }) => has(layout.backupScheduleFile),
  after: ["coordinator"],
  command: ({ layout }) => ({
    program: layout.release("bin", "node"),
    args: [...NODE_FLAGS, layout.release("app", "follower.mjs"), "--root", layout.root],
  }),
  loads: ["app/node_modules/better-sqlite3/"],
  sockets: {},
  certificates: [],
  // That it is behind is said by how far it is; a target that is away does not make it unwell.
  health: {
    notedAtMs: ({ layout, read }) => followedIn(read(layout.followedFile))?.atMs ?? null,
    withinMs: 15_000,
  },
  findings: { backups: behindFindings },
  settings: [],
  data: null,
  firstBytes: 0,
  stop: { graceMs: 15_000 },
  inShortage: "middle",
});
