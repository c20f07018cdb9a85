/** SHA-256 of what a plan was made from: over the digests of its items, so that what did not change is not hashed again. */
import { hash } from "node:crypto";
import {
  INPUT_LISTS,
  type InputListName,
  type InputMoment,
  type PlanInput,
} from "./decisions/plan-input.ts";

export const DIGEST_BYTES = 32;

export function itemDigest(text: string): Buffer {
  return hash("sha256", text, "buffer");
}

/** @param digests of its items, in their order, one after another */
export function listDigest(digests: Buffer): string {
  return hash("sha256", digests);
}

export const EMPTY_LIST_DIGEST = listDigest(Buffer.alloc(0));

export function inputDigest(
  moment: InputMoment,
  lists: Readonly<Record<InputListName, string>>,
): string {
  const { sharingAt, backfillAt, isWatchedApart } = moment;
  const named = INPUT_LISTS.map((name) => [name, lists[name]]);
  return hash("sha256", JSON.stringify([{ sharingAt, backfillAt, isWatchedApart }, named]));
}

/** The same of an input as it lies there, with a pause after some items. */
export function* digestInSteps({ moment, lists }: PlanInput): Generator<void, string> {
  const digests: Partial<Record<InputListName, string>> = {};
  for (const name of INPUT_LISTS) {
    const items = lists[name];
    const all = Buffer.alloc(items.length * DIGEST_BYTES);
    for (let at = 0; at < items.length; at += 1) {
      itemDigest(JSON.stringify(items[at])).copy(all, at * DIGEST_BYTES);
      if (at % ITEMS_AT_ONCE === 0) yield;
    }
    digests[name] = listDigest(all);
    yield;
  }
  return inputDigest(moment, digests as Record<InputListName, string>);
}

/** Some tenths of a millisecond. */
export const ITEMS_AT_ONCE = 64;
