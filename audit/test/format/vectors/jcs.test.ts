/** The published test data of RFC 8785, against what writes our leaves and, apart, against what judges them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { canonicalJson } from "../../../src/format/event/canonical-json.ts";
import { canonicalFault } from "@resontech/verifier/leaf/canonical";

const NAMES = ["arrays", "french", "structures", "unicode", "values", "weird"];
/** Its numbers are no integers: the log's profile refuses them on purpose. */
const OUTSIDE_THE_PROFILE = ["values"];
const read = (folder: "input" | "output", name: string): string =>
  readFileSync(join(import.meta.dirname, "fixtures/jcs", folder, `${name}.json`), "utf8");

t.test(
  "the writer gives the published text, or refuses what has no integers: 5 of 6, and 1",
  (t) => {
    const refused: string[] = [];
    let written = 0;
    for (const name of NAMES)
      try {
        t.equal(canonicalJson(JSON.parse(read("input", name)), 6), read("output", name), name);
        written += 1;
      } catch (error) {
        t.match(error, { code: "number" }, name);
        refused.push(name);
      }
    t.same({ written, refused }, { written: 5, refused: OUTSIDE_THE_PROFILE });
    t.end();
  },
);

t.test(
  "the verifier takes the published texts as canonical, and none of the inputs: 5 of 6, and 0 of 6",
  (t) => {
    const accepted = (folder: "input" | "output") =>
      NAMES.filter((name) => canonicalFault(read(folder, name)) === null);
    t.same(
      accepted("output"),
      NAMES.filter((name) => !OUTSIDE_THE_PROFILE.includes(name)),
    );
    t.same(accepted("input"), []);
    // Without its numbers the sixth is one of them.
    const values = JSON.parse(read("output", "values")) as Record<string, unknown>;
    t.equal(
      canonicalFault(JSON.stringify({ literals: values["literals"], string: values["string"] })),
      null,
    );
    t.end();
  },
);
