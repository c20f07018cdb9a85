import type { StateWord } from "./state-word.ts";
import styles from "./state.module.css";

const SHAPES: Record<StateWord["shape"], string> = {
  ring: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Zm0 2a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7Z",
  dot: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Z",
  half: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11Zm0 2v7a3.5 3.5 0 1 1 0-7Z",
  tick: "m6.5 10.2-3-3L2 8.7l4.5 4.5L14 5.700l-1.500-1.500Z",
  cross:
    "M4.200 2.800 2.800 4.200 6.600 8l-3.800 3.800 1.400 1.400L8 9.400l3.800 3.800 1.400-1.400L9.400 8l3.800-3.800-1.400-1.400L8 6.600Z",
  dash: "M3 7h10v2H3Z",
};

/** A state as shape, colour and word: none of them alone tells it. @param isBadge on a ground of its colour, for what a whole page is of */
export function State({
  of: { word, tone, shape },
  isBadge = false,
}: {
  of: StateWord;
  isBadge?: boolean;
}) {
  const badge = isBadge ? styles["badge"] : "";
  return (
    <span className={`${styles["state"]} ${styles[tone]} ${badge}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path d={SHAPES[shape]} fill="currentColor" fillRule="evenodd" />
      </svg>
      {word}
    </span>
  );
}
