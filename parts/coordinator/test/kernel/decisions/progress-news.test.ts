import t from "tap";
import {
  isProgressNews,
  type MemberProgress,
} from "../../../src/kernel/decisions/progress-news.ts";

t.test("progress is told when a step begins, and by each twentieth of it", async (t) => {
  const none: MemberProgress = { step: null, done: null, total: null };
  const cases: [
    string,
    MemberProgress,
    { step: string; done: number; total: number | null },
    boolean,
  ][] = [
    ["the first", none, { step: "image", done: 0, total: 100 }, true],
    [
      "another step",
      { step: "image", done: 100, total: 100 },
      { step: "inputs", done: 0, total: 100 },
      true,
    ],
    [
      "a little more",
      { step: "image", done: 10, total: 100 },
      { step: "image", done: 14, total: 100 },
      false,
    ],
    [
      "a twentieth more",
      { step: "image", done: 14, total: 100 },
      { step: "image", done: 15, total: 100 },
      true,
    ],
    [
      "its end",
      { step: "image", done: 99, total: 100 },
      { step: "image", done: 100, total: 100 },
      true,
    ],
    [
      "beyond its end",
      { step: "image", done: 100, total: 100 },
      { step: "image", done: 900, total: 100 },
      false,
    ],
    [
      "its size became known",
      { step: "image", done: 1, total: null },
      { step: "image", done: 1, total: 100 },
      true,
    ],
    [
      "of unknown size, a little more",
      { step: "image", done: 1, total: null },
      { step: "image", done: 1_000, total: null },
      false,
    ],
    [
      "of unknown size, much more",
      { step: "image", done: 1, total: null },
      { step: "image", done: 1e8, total: null },
      true,
    ],
    [
      "nothing to do",
      { step: "image", done: 0, total: 0 },
      { step: "image", done: 0, total: 0 },
      false,
    ],
  ];
  for (const [name, before, after, expected] of cases)
    t.equal(isProgressNews(before, after), expected, name);
});
