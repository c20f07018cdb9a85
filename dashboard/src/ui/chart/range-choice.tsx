import { type Range, rangesFor } from "./ranges.ts";
import styles from "./chart.module.css";

/** How far back charts go. */
export function RangeChoice({
  range,
  onChoose,
  from,
  to,
}: {
  range: Range;
  onChoose: (range: Range) => void;
  from: number;
  to: number;
}) {
  return (
    <div role="group" aria-label="Time shown" className={styles["ranges"]}>
      {rangesFor(from, to).map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === range}
          className={styles["range"]}
          onClick={() => onChoose(one)}
        >
          {one}
        </button>
      ))}
    </div>
  );
}
