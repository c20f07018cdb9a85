import t from "tap";
import { commaList } from "../../../src/commands/decisions/comma-list.ts";

t.test("each stands once, with commas in between", async (t) => {
  t.same(commaList("node-a, node-b"), ["node-a", "node-b"]);
  for (const bad of ["", "a,", "a,a", ",a", "a,,b"])
    t.throws(() => commaList(bad), { message: /each once, with commas/ }, bad);
});
