import type { MemberState } from "@resontech/contracts/job-states";

export type StartingMember = {
  id: string;
  state: MemberState;
  is_staged: number;
  is_ready: number;
  progress_at: number | null;
};

/**
 * Whom a start that took too long waited for: a member that its node never asked for, else the one that got least far, of equals the one that has been
 * silent longest. Null when all have started.
 */
export function laggingMember(members: readonly StartingMember[]): string | null {
  const waitedFor = members.filter(
    ({ state, is_ready }) => state === "LEASED" || (state === "STARTING" && is_ready === 0),
  );
  const far = ({ state, is_staged, progress_at }: StartingMember): readonly number[] => [
    state === "LEASED" ? 0 : 1,
    is_staged,
    progress_at ?? 0,
  ];
  return waitedFor.toSorted((a, b) => compare(far(a), far(b)))[0]?.id ?? null;
}

function compare(a: readonly number[], b: readonly number[]): number {
  return a.map((value, at) => value - b[at]!).find((difference) => difference !== 0) ?? 0;
}
