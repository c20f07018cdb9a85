import t from "tap";
import { warningText } from "../../../src/kernel/decisions/warning-text.ts";

const CASES: [
  times: number,
  first: number | null,
  last: number | null,
  text: string,
  expected: string,
][] = [
  [1, null, null, "it left the job", "site-2: it left the job"],
  [1, 3, 3, "its update was rejected", "site-2: its update was rejected (round 3)"],
  [3, 0, 4, "its update was rejected", "site-2: its update was rejected (3 times, rounds 0 to 4)"],
  [2, null, null, "a line is kept as text", "site-2: a line is kept as text (2 times)"],
  [1, null, null, "site-2: says its name itself", "site-2: says its name itself"],
];

for (const [times, first_round, last_round, text, expected] of CASES)
  t.equal(
    warningText({ site: "site-2", topic: "t", text, times, first_round, last_round }),
    expected,
  );
