import { REASONS } from "@resontech/coordinator/reasons";
import t from "tap";
import { errorHint } from "../src/pages/job/error-hint.ts";

t.test("a hint on a page names no field of the API", async (t) => {
  const hints = Object.values(REASONS).map(({ hint }) => errorHint(hint));
  t.same(
    hints.filter((hint) => hint.includes("`detail`")),
    [],
  );
  t.equal(errorHint("Read in `detail` what was wrong."), "Read below what was wrong.");
  t.equal(
    errorHint("It names its code, `detail` what it said."),
    "It names its code, the text below what it said.",
  );
});
