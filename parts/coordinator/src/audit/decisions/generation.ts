/**
 * The generation that this start runs under. It moves only when database and log disagree: the database was restored or rolled back
 * (fences given out since are not in it), or it is new beside an old log. A database that is ahead crashed between the two, or the
 * log was restored; moving once more harms nothing.
 *
 * @param own what the database holds, 0 for a new one
 * @param logged the highest that auditd has logged, 0 for a new log
 */
export function nextGeneration(own: number, logged: number): number {
  return own !== 0 && own === logged ? own : Math.max(own, logged) + 1;
}
