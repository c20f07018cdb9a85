import t from "tap";
import { compareVersions, isInRanges } from "../../src/upgrade/decisions/release-order.ts";

t.test("versions are ordered as semver orders them", async (t) => {
  const ordered = [
    ...["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2"],
    ...["1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0"],
  ];
  for (const [at, version] of ordered.entries())
    for (const [other, against] of ordered.entries())
      t.equal(Math.sign(compareVersions(version, against)), Math.sign(at - other));
});

t.test("a version is in a range when each of its comparators holds", async (t) => {
  const ranges = [">=1.2.0 <2.0.0", "=0.9.0"];
  for (const version of ["1.2.0", "1.10.3", "0.9.0"]) t.ok(isInRanges(version, ranges), version);
  for (const version of ["1.1.9", "2.0.0", "0.9.1", "1.2.0-rc.1"])
    t.notOk(isInRanges(version, ranges), version);
  t.notOk(isInRanges("1.0.0", []), "no range: fresh installs only");
  for (const wrong of ["", "1.0.0", "^1.0.0", ">=one", ">=1.0.0 and more"])
    t.notOk(isInRanges("1.0.0", [wrong]), `what is no comparator holds for nothing: ${wrong}`);
});
