/** How gangs of one project come before one another. See KERNEL "Queue and placement". */

export const CLASS_PRIORITIES = {
  system: 1000,
  inference: 125,
  interactive: 100,
  managed: 75,
  train: 50,
  scavenger: 10,
} as const;
export type JobClass = keyof typeof CLASS_PRIORITIES;

/** @param asked as the job's row has it; of a newer release it may be one that this one does not know */
export function classOf(asked: string | null, own: JobClass): JobClass {
  return asked !== null && Object.hasOwn(CLASS_PRIORITIES, asked) ? (asked as JobClass) : own;
}

/** No two classes have one priority. */
export function classOfPriority(priority: number): JobClass | null {
  const classes = Object.keys(CLASS_PRIORITIES) as JobClass[];
  return classes.find((jobClass) => CLASS_PRIORITIES[jobClass] === priority) ?? null;
}

/**
 * Of a job that may have several gangs those that it is never to go below have its class, and each further one takes what nobody else wants.
 * @param before gangs of the job that come before this one
 * @param least gangs that it is never to go below
 */
export function priorityOf(jobClass: JobClass, before: number, least = 1): number {
  return CLASS_PRIORITIES[before >= least ? "scavenger" : jobClass];
}
