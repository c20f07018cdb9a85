import { type Static, Type } from "typebox";

/**
 * Order of authority over one member (or one node epoch). Compared by generation first, then counter.
 * The generation moves only when the coordinator starts on a restored or rolled-back database.
 */
export const Fence = Type.Object(
  {
    generation: Type.Integer({ minimum: 1 }),
    counter: Type.Integer({ minimum: 0 }),
  },
  { additionalProperties: false },
);
export type Fence = Static<typeof Fence>;

/** Negative when `a` is older than `b`, zero when equal, positive when newer. */
export function compareFences(a: Fence, b: Fence): number {
  return a.generation - b.generation || a.counter - b.counter;
}

/** The one text form, for object keys, container names and logs: `<generation>.<counter>`. */
export function formatFence(fence: Fence): string {
  return `${fence.generation}.${fence.counter}`;
}
