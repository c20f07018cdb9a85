/** Everything that changes something, asked while auditd is away, and once it is back. */
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { type Answered, asLine, askAll, type Change } from "./change.ts";
import { alsoMovedByReturn, changesBetween, type Moving, stateOf } from "./appliance-state.ts";
import type { Outage } from "./outage.ts";

const LIMIT_MS = 2_500;

export type Refusals = {
  asked: number;
  slowestMs: number;
  /** Answered after more than 2.5 s; must be empty. */
  late: string[];
  /** Answered otherwise than 503; must be empty. */
  otherwise: string[];
  /** What was changed while auditd was away; must be empty. */
  effects: string[];
  /** What is otherwise than before once auditd is back: what was refused is not done later; must be empty. */
  lateEffects: string[];
};

export function isRefused({ asked, late, otherwise, effects, lateEffects }: Refusals): boolean {
  return asked > 0 && [late, otherwise, effects, lateEffects].every(({ length }) => length === 0);
}

/**
 * @param clients ask at the same time, each one request after the other
 * @param first done while auditd is away, before anything is looked at or asked
 */
export async function refusedDuring(
  outage: Outage,
  { appliance, moving }: { appliance: LocalAppliance; moving: Moving },
  clients: readonly (readonly Change[])[],
  first: () => Promise<unknown> = async () => {},
): Promise<Refusals> {
  const look = () => stateOf(appliance, moving);
  const lookLater = () => stateOf(appliance, alsoMovedByReturn(moving));
  await outage.begin();
  let answers: Answered[];
  let before: ReturnType<typeof look>;
  let after: ReturnType<typeof look>;
  let forLater: ReturnType<typeof look>;
  try {
    await first();
    before = look();
    forLater = lookLater();
    answers = (await Promise.all(clients.map(askAll))).flat();
    after = look();
  } finally {
    await outage.end();
  }
  return {
    asked: answers.length,
    slowestMs: Math.max(...answers.map(({ ms }) => ms)),
    late: answers.filter(({ ms }) => ms > LIMIT_MS).map(({ name, ms }) => `${name}: ${ms} ms`),
    otherwise: answers.filter(({ status }) => status !== 503).map(asLine),
    effects: changesBetween(before, after),
    lateEffects: changesBetween(forLater, lookLater()),
  };
}

/** The same requests, with auditd there. @returns what was not served as it should be, and the bodies of what was */
export async function servedAgain(
  changes: readonly Change[],
): Promise<{ notServed: string[]; bodies: Map<string, unknown> }> {
  const answers = await askAll(changes);
  const notServed = answers
    .filter(({ status }, index) => status !== changes[index]?.served)
    .map(asLine);
  return { notServed, bodies: new Map(answers.map(({ name, body }) => [name, body])) };
}
