/** Filters that a person has named. */
import t from "tap";
import { withView } from "../src/pages/jobs/kept-views.ts";

t.test("a name stands for one view, the last that was given to it", async (t) => {
  const first = withView([], { name: "mine", search: "state=FAILED" });
  const second = withView(first, { name: " mine ", search: "text=a" });
  t.same(second, [{ name: "mine", search: "text=a" }]);
});

t.test("no name keeps nothing, and the oldest make room", async (t) => {
  t.same(withView([], { name: "  ", search: "text=a" }), []);
  let views = withView([], { name: "0", search: "text=0" });
  for (let i = 1; i <= 20; i++) views = withView(views, { name: `${i}`, search: `text=${i}` });
  t.equal(views.length, 20);
  t.equal(views[0]?.name, "1");
});
