import type { WaitingGang } from "./placement-facts.ts";

const shapes = new WeakMap<WaitingGang, string>();

/** All by which a gang is given workers. Of two gangs of one shape the second finds what the first left, and nothing that it did not find. */
export function shapeOf(gang: WaitingGang): string {
  const known = shapes.get(gang);
  if (known !== undefined) return known;
  const { selection, onlyMine, userId, images, estimatedMemoryMb, agentProtocol } = gang;
  const { size, workersEach = 1, asks = null, hubBytes, isReached, avoidNodes } = gang;
  const shape = JSON.stringify([
    ...[selection, onlyMine ? userId : null, images, estimatedMemoryMb, agentProtocol],
    ...[size, workersEach, asks, hubBytes, isReached, avoidNodes],
  ]);
  shapes.set(gang, shape);
  return shape;
}

const classes = new WeakMap<WaitingGang, string>();

/** Its shape with all that shares hang on: of one class the second finds what the first left, and is refused what the first was. */
export function shareClassOf(gang: WaitingGang): string {
  const known = classes.get(gang);
  if (known !== undefined) return known;
  const { project, priority, isFurther, isOnlyGuaranteed = false } = gang;
  const found = JSON.stringify([project, priority, isFurther, isOnlyGuaranteed, shapeOf(gang)]);
  classes.set(gang, found);
  return found;
}
