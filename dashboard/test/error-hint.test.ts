import { REASONS } from "@resontech/coordinator/reasons";
import t from "tap";
import { errorHint, errorMessage } from "../src/pages/job/error-hint.ts";

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

t.test("a limit of many bytes is told in a larger unit, a small count stays", async (t) => {
  t.equal(
    errorMessage("a process was killed at the limit of 2147483648 bytes"),
    "a process was killed at the limit of 2.0 GiB",
  );
  t.equal(errorMessage("a line of 4096 bytes"), "a line of 4096 bytes");
});
