/** What becomes of a node that an operator removes. Pure: what it is like now in, the next step out. */

export type NodeLeaving = {
  state: string;
  silentS: number | null;
  members: readonly { job: string; state: string }[];
};

export type NextStep =
  | { do: "remove" }
  | { do: "wait"; why: string }
  | { do: "refuse"; why: string; todo: string };

/** Beats come every five seconds. */
const SILENT_S = 15;

/** @param force the operator agreed that a node which does not answer leaves as well */
export function whatNext({ state, silentS, members }: NodeLeaving, force: boolean): NextStep {
  // One that joined and never registered was never given anything.
  if (state === "JOINED") return { do: "remove" };
  const isSilent = state === "DEAD" || silentS === null || silentS > SILENT_S;
  if (isSilent && !force)
    return {
      do: "refuse",
      why: silentS === null ? "does not answer" : `has not answered for ${silentS} s`,
      todo: "let it come back, or add --force: it leaves at once, and its own `leave` cleans its host later",
    };
  // Its lease has run out: nothing runs there under any authority.
  if (state === "DEAD") return { do: "remove" };
  if (isSilent) return { do: "wait", why: "until its lease has run out" };
  if (members.length === 0) return { do: "remove" };
  const jobs = new Set(members.map(({ job }) => job)).size;
  return {
    do: "wait",
    why: `${members.length} members of ${jobs} ${jobs === 1 ? "job" : "jobs"} run there`,
  };
}
