/** For whom a job made way, and what of it stays, in words that page and shell share. Pure. */
type MadeWay = { project: { name: string } | null; afterRound: number | null };

/** @param isLeaving it has not let go of its workers yet */
export function madeWayWords({ project, afterRound }: MadeWay, isLeaving: boolean): string {
  const whom = project === null ? "another project" : `project ${project.name}`;
  if (isLeaving) return `It makes way for ${whom}.`;
  const left =
    afterRound === null
      ? "It begins anew."
      : `Nothing is lost but what came after round ${afterRound}.`;
  return `It made way for ${whom}. ${left}`;
}
