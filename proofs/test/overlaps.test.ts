import t from "tap";
import { overlapsOf } from "../faults/watch/overlaps.ts";

t.test("lives that follow each other in a place, or lie in two places, do not overlap", (t) => {
  const lives = [
    { place: "site-1", name: "second", from: 20.1, until: 30 },
    { place: "site-1", name: "first", from: 10, until: 20 },
    { place: "site-2", name: "other", from: 10, until: 30 },
  ];
  t.same(overlapsOf(lives), []);
  t.end();
});

t.test(
  "a second life that began before the first was last seen is told, and each within a long one",
  (t) => {
    const lives = [
      { place: "server", name: "long", from: 10, until: 40 },
      { place: "server", name: "short", from: 15, until: 20 },
      { place: "server", name: "late", from: 39.5, until: 60 },
    ];
    t.same(overlapsOf(lives), [
      "server: short began 25.00 s before long was last seen",
      "server: late began 0.50 s before long was last seen",
    ]);
    t.end();
  },
);
