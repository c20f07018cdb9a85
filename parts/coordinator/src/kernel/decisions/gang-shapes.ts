import { InternedKeys } from "./interned-keys.ts";
import type { WaitingGang } from "./placement-facts.ts";

type Keys = { filter: string; shape: string; shareClass: string | null };

const keys = new WeakMap<WaitingGang, Keys>();
/** A gang that has its turn is asked about many times in a row, and a weak map costs more than all else that is done then. */
let last: { gang: WaitingGang; keys: Keys } | null = null;
/** Gangs of one shape name it by one string: a map then compares two pointers, and not some hundred letters. */
const interned = new InternedKeys();

/** All by which a gang is given workers. Of two gangs of one shape the second finds what the first left, and nothing that it did not find. */
export function shapeOf(gang: WaitingGang): string {
  return keysOf(gang).shape;
}

/** All by which single workers serve a gang or don't, gates apart: many shapes have one. */
export function filterKeyOf(gang: WaitingGang): string {
  return keysOf(gang).filter;
}

/** Its shape with all that shares hang on: of one class the second finds what the first left, and is refused what the first was. */
export function shareClassOf(gang: WaitingGang): string {
  const own = keysOf(gang);
  if (own.shareClass === null) {
    const { project, priority, isFurther, isOnlyGuaranteed = false } = gang;
    const claim = JSON.stringify([project, priority, isFurther, isOnlyGuaranteed]);
    own.shareClass = interned.of(`${claim}${own.shape}`);
  }
  return own.shareClass;
}

function keysOf(gang: WaitingGang): Keys {
  if (last?.gang === gang) return last.keys;
  const own = keys.get(gang) ?? newKeysOf(gang);
  last = { gang, keys: own };
  return own;
}

function newKeysOf(gang: WaitingGang): Keys {
  const { selection, onlyMine, userId, images, estimatedMemoryMb, agentProtocol } = gang;
  const { size, workersEach = 1, asks = null, hubBytes, isReached, avoidNodes } = gang;
  const filter = JSON.stringify([
    ...[selection, onlyMine ? userId : null, images, estimatedMemoryMb, agentProtocol],
    ...[workersEach, asks],
  ]);
  const shape = `${filter}${JSON.stringify([size, hubBytes, isReached, avoidNodes])}`;
  const found = { filter: interned.of(filter), shape: interned.of(shape), shareClass: null };
  keys.set(gang, found);
  return found;
}
