/** What a gang needs, and why free workers are not what it needs. Pure. */
import { membersOfGang } from "./member-bundles.ts";
import type { WaitingGang } from "./placement-facts.ts";
import { workerCount } from "./worker-count.ts";

type Needy = Pick<WaitingGang, "size" | "workersEach" | "hubBytes">;

/** `2 workers`; `4 workers of one model on one node`; `8 workers, by 4 of one model on one node`. */
export function neededWorkers(gang: Needy): string {
  const { size, workersEach: each = 1, hubBytes } = gang;
  if (each === 1) return workerCount(size);
  if (size === each) return `${workerCount(size)} of one model on one node`;
  return hubBytes === null
    ? `${workerCount(size)} on one node, by ${each} of one model`
    : `${workerCount(size)}, by ${each} of one model on one node`;
}

/** Where there are workers enough, but they lie apart. @param members how many of its members could lie somewhere now @returns null where that is not so */
export function whyApart(gang: Needy, eligible: number, members: number): string | null {
  const { size, workersEach: each = 1 } = gang;
  if (each === 1 || eligible < size || members >= membersOfGang(gang)) return null;
  return members === 0
    ? "no node has as many of one model free"
    : `on one node each they are enough for ${members} of ${membersOfGang(gang)}`;
}
