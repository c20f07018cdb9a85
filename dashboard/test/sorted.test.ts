import t from "tap";
import { nextOrder, sorted } from "../src/ui/sorted.ts";

t.test("a head that is pressed orders, turns round, and leaves rows as they came", async (t) => {
  const up = nextOrder(null, "Name");
  t.same(up, { title: "Name", isDown: false });
  const down = nextOrder(up, "Name");
  t.same(down, { title: "Name", isDown: true });
  t.equal(nextOrder(down, "Name"), null);
  t.same(nextOrder(down, "Ran"), { title: "Ran", isDown: false });
});

t.test(
  "words with numbers stand in the order of the numbers, and nothing stands last",
  async (t) => {
    const rows = ["site-10", null, "site-9", "Site-1"];
    const by = (row: string | null) => row;
    t.same(sorted(rows, by, false), ["Site-1", "site-9", "site-10", null]);
    t.same(sorted(rows, by, true), ["site-10", "site-9", "Site-1", null]);
    t.same(
      sorted([3, 20, 1], (row) => row, true),
      [20, 3, 1],
    );
  },
);
