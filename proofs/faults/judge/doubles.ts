/** Whether a place of a job (its server, each of its sites) ever had two living members, in whatever attempt, under whatever fence. */
import type { Database } from "better-sqlite3";
import type { SeenContainers } from "../watch/living-containers.ts";
import { overlapsOf } from "../watch/overlaps.ts";

/** Opens the coordinator's database, to be closed by who asked. */
type Rows = { open(): Database };

/** Longer without a look, and a second member may have come and gone. */
const MOST_GAP_S = 2;

type Member = { id: string; place: string; hasRun: number };

/** One line for each pair, and for each member that ran and was not seen: nothing is shown of what nobody looked at. */
export function doublesOf(
  rows: Rows,
  job: string,
  { containers, longestGapS }: SeenContainers,
): string[] {
  const members = membersOf(rows, job).map((member) => ({
    ...member,
    lives: containers
      .filter(({ name }) => isOf(name, member.id))
      .map((life) => ({ ...life, place: member.place })),
  }));
  return [
    ...overlapsOf(members.flatMap(({ lives }) => lives)),
    ...members
      .filter(({ hasRun, lives }) => hasRun === 1 && lives.length === 0)
      .map(({ id }) => `${id} ran and was not seen`),
    ...(longestGapS > MOST_GAP_S ? [`nobody looked for ${longestGapS.toFixed(1)} s`] : []),
  ];
}

/** A container's name ends with its member's id and fence. */
function isOf(name: string, member: string): boolean {
  return name.slice(0, name.lastIndexOf("-")).endsWith(`-${member}`);
}

function membersOf(rows: Rows, job: string): Member[] {
  const db = rows.open();
  try {
    const asked = `SELECT id, coalesce(site, role) AS place,
        EXISTS (SELECT 1 FROM job_events WHERE member_id = members.id AND event = 'run') AS hasRun
      FROM members WHERE job_id = ?`;
    return db.prepare<[string], Member>(asked).all(job);
  } finally {
    db.close();
  }
}
