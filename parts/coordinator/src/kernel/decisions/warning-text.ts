/** A warning as people read it in `GET /api/tasks/:id`. Pure. */
export type KeptWarning = {
  site: string;
  topic: string;
  text: string;
  times: number;
  first_round: number | null;
  last_round: number | null;
};

/** "site-2: its update was rejected: … (3 times, rounds 0 to 4)" */
export function warningText({ site, text, times, first_round, last_round }: KeptWarning): string {
  const often = times === 1 ? [] : [`${times} times`];
  const rounds =
    first_round === null || last_round === null
      ? []
      : [
          first_round === last_round
            ? `round ${last_round}`
            : `rounds ${first_round} to ${last_round}`,
        ];
  const where = [...often, ...rounds].join(", ");
  const named = text.startsWith(`${site}: `) ? text : `${site}: ${text}`;
  return where === "" ? named : `${named} (${where})`;
}
