/** Ranks of a job in words that page and shell share. Pure. */

/** Of the job's parameters. An appliance of an older release says nothing of ranks. */
type Ranks = { workersPerMember: number; ranks?: number | null; strategy?: string | null };

/** `4 in 2 members, 2 workers each; ddp`; null for a job that has none. */
export function rankWords({ ranks, strategy, workersPerMember: each }: Ranks): string | null {
  if (ranks == null) return null;
  const members = ranks / each;
  const where = members === 1 ? "one member" : `${members} members`;
  const workers = each === 1 ? "1 worker" : `${each} workers`;
  return `${ranks} in ${where}, ${workers} ${members === 1 ? "in all" : "each"}${strategy == null ? "" : `; ${strategy}`}`;
}
