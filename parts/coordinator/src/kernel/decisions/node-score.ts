/**
 * How good a node is for whoever has the choice: uptime × tier × locality × load × price, and framework. Each factor is above 0 and at most 1; of what nobody
 * knows it is null, and counts 1. Pure.
 */
import { SCORE_FACTORS, type ScoreFactor } from "@resontech/contracts/score-words";

/** Uptime is that of so much time: an outage a week ago is forgotten. */
export const UPTIME_WINDOW_MS = 7 * 24 * 3_600_000;
/** A node's part of the score is compared in so many steps: nodes of one step are alike, and there are few classes of them. */
const STEPS = 20;
const QUARTERS = 4;

/** What is known of a node, whoever asks. Null: nobody knows. */
export type NodeStanding = { uptime: number | null; load: number | null };

/** Parts of what the node has, each from 0 to 1. Null: it does not tell. */
export type NodeBusyness = { cpu: number | null; memory: number | null };

/**
 * The part of the last seven days in which the node answered; of one that joined later, since then.
 * @param silentMs how long it did not answer within that time
 */
export function uptimeOf(joinedAt: number, now: number, silentMs: number): number | null {
  const watchedMs = Math.min(UPTIME_WINDOW_MS, now - joinedAt);
  if (watchedMs <= 0) return null;
  return Math.max(1 / STEPS, 1 - Math.min(1, Math.max(0, silentMs) / watchedMs));
}

/**
 * What the node has left, in quarters. What its held workers explain is no load: otherwise whoever holds one worker of a node would drive others to an empty
 * one, and no node would be left whole.
 * @param heldPart of its workers, from 0 to 1
 */
export function loadOf({ cpu, memory }: NodeBusyness, heldPart: number): number | null {
  if (cpu === null && memory === null) return null;
  const beyond = Math.max(cpu ?? 0, memory ?? 0) - heldPart;
  const left = 1 - Math.min(1, Math.max(0, beyond));
  return Math.max(1, Math.ceil(left * QUARTERS)) / QUARTERS;
}

/** The node's own part of the score, as choices are made by it: in steps of a twentieth. */
export function nodeScoreOf({ uptime, load }: NodeStanding): number {
  const product = (uptime ?? 1) * (load ?? 1);
  // What a product of decimals has too much must not lift it a step.
  return Math.min(STEPS, Math.max(1, Math.ceil(product * STEPS - 1e-9))) / STEPS;
}

/** A model of no price counts as one of a cent an hour. @param cents an hour, of the model and of the cheapest that would do */
export function priceFactorOf(cents: number, cheapestCents: number): number {
  return Math.min(1, Math.max(1, cheapestCents) / Math.max(1, cents));
}

/** @returns what they make together */
export function productOf(factors: readonly ScoreFactor[]): number {
  return factors.reduce((product, { value }) => product * (value ?? 1), 1);
}

/**
 * Each factor as it is shown. Nothing is stored of tiers of nodes, nor of what of a job lies on them. Whatever would do runs the job's image, so that the
 * framework is the same everywhere.
 */
export function scoreFactorsOf({ uptime, load }: NodeStanding, price: number): ScoreFactor[] {
  const values = { uptime, tier: null, locality: null, load, price, framework: 1 };
  return SCORE_FACTORS.map((factor) => ({ factor, value: values[factor] }));
}
