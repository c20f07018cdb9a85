/**
 * Which part of the time that they state jobs run in truth, as those that ended did: people state more than they need (Tsafrir, Etsion and Feitelson,
 * https://doi.org/10.1109/TPDS.2007.70606). What a plan promises others keeps to what was stated; only expectations look at this. Pure.
 */

/** One that ended. @property part of what it stated, from 0 to 1 */
export type EndedRun = { project: string; part: number };

/** So many of the newest of a project count, and so many of the whole site. */
const KEPT = { project: 30, site: 100 };
/** Fewer say nothing of the next one. */
const LEAST_ENDED = 5;
/** What all of the site's weigh together, beside one of the project's own. */
const SITE_WEIGHT = 4;
/** Before anybody ended, and beside the first that do: what was stated is true. */
const STATED_WEIGHT = 1;

type Weighed = { part: number; weight: number };

export class RunParts {
  readonly #byProject = new Map<string, readonly Weighed[]>();
  readonly #site: readonly EndedRun[];
  readonly #ended: readonly EndedRun[];

  /** @param ended the newest first */
  constructor(ended: readonly EndedRun[]) {
    this.#ended = ended.length < LEAST_ENDED ? [] : ended;
    this.#site = this.#ended.slice(0, KEPT.site);
  }

  /**
   * @param draw from 0 to 1: the lower, the sooner it ends
   * @param ran the part of what it stated that it ran already
   * @returns the part at which it ends; 1 where all others had ended by now
   */
  endOf(project: string, draw: number, ran: number): number {
    const longer = this.#partsOf(project).filter(({ part }) => part > ran);
    let left = draw * longer.reduce((sum, { weight }) => sum + weight, 0);
    for (const { part, weight } of longer) if ((left -= weight) < 0) return part;
    return 1;
  }

  /** The smallest first. */
  #partsOf(project: string): readonly Weighed[] {
    let parts = this.#byProject.get(project);
    if (parts === undefined) {
      const own = this.#ended.filter((run) => run.project === project).slice(0, KEPT.project);
      parts = [
        ...own.map(({ part }) => ({ part, weight: 1 })),
        ...this.#site.map(({ part }) => ({ part, weight: SITE_WEIGHT / this.#site.length })),
        { part: 1, weight: STATED_WEIGHT },
      ].toSorted((a, b) => a.part - b.part);
      this.#byProject.set(project, parts);
    }
    return parts;
  }
}
