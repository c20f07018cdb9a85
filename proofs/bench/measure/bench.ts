/**
 * Contestants measured in turns, in one run: each once a round, and who came first comes last in the next one, so that none always meets a machine that is
 * fresh, warm or busy. A machine that is slower for a minute is so for all of a round: rounds are compared, not medians of different minutes.
 */
import { spread } from "../../statistics.ts";
import { StolenTime } from "./stolen-time.ts";

/** So many rounds for each that counts, at most; with fewer than a third of them calm nothing was measured. */
const ROUNDS_FOR_ONE = 3;

export type Contestant<Measure> = {
  /** What is not measured: it makes the same start for each. */
  prepare?: () => Promise<void>;
  /** @param round below 0 while it warms up */
  measure: (round: number) => Promise<Measure>;
};

export type BenchOptions<Measures> = {
  /** That count. */
  rounds: number;
  /** Rounds before the first that counts: compilers, caches, memory that is touched for the first time. */
  warmUp?: number;
  /**
   * A round is measured again in which the host of a virtual machine took more of the processors than this share from any contestant: it says how the host was.
   * @default each round counts
   */
  mostStolen?: number;
  /** Looks at a round that counts. */
  told?: (measures: Measures, round: number) => void;
  /** What the host takes from now on; another one in tests. */
  watch?: () => { share: () => number };
};

/** @property repeated rounds that do not count */
export type Benched<Measures> = {
  measured: { [Name in keyof Measures]: Measures[Name][] };
  repeated: number;
};

/**
 * @typeParam Measures what is measured of each contestant, by its name
 * @throws Error where the host left fewer than a third of the rounds calm
 */
export async function bench<Measures extends object>(
  contestants: { readonly [Name in keyof Measures]: Contestant<Measures[Name]> },
  {
    rounds,
    warmUp = 0,
    mostStolen = Number.POSITIVE_INFINITY,
    told = () => undefined,
    watch = () => new StolenTime(),
  }: BenchOptions<Measures>,
): Promise<Benched<Measures>> {
  const names = Object.keys(contestants) as (keyof Measures)[];
  const counted: Measures[] = [];
  let repeated = 0;
  for (let round = -warmUp; counted.length < rounds && round < ROUNDS_FOR_ONE * rounds; round++) {
    const measures: Partial<Measures> = {};
    let stolen = 0;
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      await contestants[name].prepare?.();
      const watched = watch();
      measures[name] = await contestants[name].measure(round);
      stolen = Math.max(stolen, watched.share());
    }
    if (round < 0) continue;
    if (stolen > mostStolen) {
      repeated += 1;
      continue;
    }
    told(measures as Measures, counted.length);
    counted.push(measures as Measures);
  }
  if (counted.length < rounds / ROUNDS_FOR_ONE)
    throw new Error(
      `the host took more than ${100 * mostStolen} % of the processors in ${repeated} rounds: try again later`,
    );
  const measured = Object.fromEntries(
    names.map((name) => [name, counted.map((measures) => measures[name])]),
  ) as Benched<Measures>["measured"];
  return { measured, repeated };
}

/** How long it takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

/** The measures of one contestant beside those of another in the same round. */
export function byRound<Own, Beside>(
  own: readonly Own[],
  beside: readonly Beside[],
  compare: (own: Own, beside: Beside) => number,
  digits = 2,
): ReturnType<typeof spread> {
  return spread(
    own.map((measure, round) => compare(measure, beside[round]!)),
    digits,
  );
}
