/** How much memory each part holds, from the processes of the host. Pure. */

export type HostProcess = { pid: number; parent: number; residentBytes: number };

/**
 * Sums each part's process with all its descendants. Memory that processes share counts in each of them.
 * @param parts null for a part of which nothing runs
 */
export function memoryByPart(
  parts: readonly { name: string; pid: number | null }[],
  processes: readonly HostProcess[],
): Map<string, number> {
  const byPid = new Map(processes.map((process) => [process.pid, process]));
  const partOf = new Map(
    parts.flatMap(({ name, pid }) => (pid === null ? [] : [[pid, name] as const])),
  );
  const sums = new Map<string, number>();
  for (const { pid, residentBytes } of processes) {
    const part = nearestPart(pid, byPid, partOf);
    if (part !== null) sums.set(part, (sums.get(part) ?? 0) + residentBytes);
  }
  return sums;
}

function nearestPart(
  pid: number,
  byPid: ReadonlyMap<number, HostProcess>,
  partOf: ReadonlyMap<number, string>,
): string | null {
  // Processes that came and went while the list was read could name one another as parents.
  const seen = new Set<number>();
  for (let at = pid; at > 1 && !seen.has(at); at = byPid.get(at)?.parent ?? 0) {
    const part = partOf.get(at);
    if (part !== undefined) return part;
    seen.add(at);
  }
  return null;
}
