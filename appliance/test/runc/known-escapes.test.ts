import t from "tap";
import { knownEscapes } from "../../src/runc/known-escapes.ts";
import { parseDockerComponents, parseRuncText } from "../../src/runc/read-runc-version.ts";

const OF_2025 = ["CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"];
const cases: [version: string, build: string, escapes: string[]][] = [
  ["1.1.5+ds1", "1.1.5+ds1-1+deb12u1", OF_2025],
  ["1.1.5+ds1", "1.1.5+ds1-1+b1", ["CVE-2024-21626", ...OF_2025]],
  ["1.1.12", "v1.1.12-0-g51d5e946", OF_2025],
  ["1.0.0~rc93+ds1", "1.0.0~rc93+ds1-5+deb11u5", OF_2025],
  ["1.0.0-rc6", "", ["CVE-2019-5736", "CVE-2021-30465", "CVE-2024-21626", ...OF_2025]],
  ["1.2.7", "", OF_2025],
  ["1.2.8", "", []],
  ["1.3.2", "", OF_2025],
  ["1.3.3", "", []],
  ["1.4.0-rc.2", "", OF_2025],
  ["1.4.0-rc.3", "", []],
  ["1.4.0", "", []],
  ["2.0.0", "", []],
  ["unknown", "", []],
];
for (const [version, build, escapes] of cases)
  t.test(`runc ${version} (${build || "no build"}): ${escapes.length} known escapes`, async (t) => {
    t.same(knownEscapes({ version, build }), escapes);
  });

t.test("both engines' words are read", async (t) => {
  const text =
    "runc version 1.1.5+ds1\ncommit: 1.1.5+ds1-1+deb12u1\nspec: 1.0.2-dev\ngo: go1.19.8\nlibseccomp: 2.5.4\n";
  t.same(parseRuncText(text), { version: "1.1.5+ds1", build: "1.1.5+ds1-1+deb12u1" });
  t.equal(parseRuncText("no such program"), null);
  const components = JSON.stringify([
    { Name: "Engine", Version: "28.2.2", Details: { GitCommit: "45873be" } },
    { Name: "runc", Version: "1.2.5", Details: { GitCommit: "v1.2.5-0-g59923ef" } },
  ]);
  t.same(parseDockerComponents(components), { version: "1.2.5", build: "v1.2.5-0-g59923ef" });
  for (const wrong of ["", "{}", "[]", "[null]", '[{"Name":"runc"}]'])
    t.equal(parseDockerComponents(wrong), null, wrong);
});
