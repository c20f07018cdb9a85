import { WordChoice } from "../word-choice.tsx";
import { type Range, rangesFor } from "./ranges.ts";

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
    <WordChoice
      label="Time shown"
      options={rangesFor(from, to)}
      chosen={range}
      onChoose={onChoose}
    />
  );
}
