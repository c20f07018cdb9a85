import t from "tap";
import { agreedVersion, refusalText, versionsOf } from "../../src/versions/protocol-versions.ts";

t.test("the newest version that both speak is used", async (t) => {
  const ours = { min: 2, max: 4 };
  t.equal(agreedVersion(ours, { min: 1, max: 3 }), 3);
  t.equal(agreedVersion(ours, { min: 3, max: 9 }), 4);
  t.equal(agreedVersion(ours, 2), 2, "a single number is a range of one");
  t.equal(agreedVersion(ours, 1), null);
  t.equal(agreedVersion(ours, { min: 5, max: 6 }), null);
  t.equal(agreedVersion(ours, { min: 4, max: 2 }), null, "a range that is none");
});

t.test("who speaks one version says it as the first release did", async (t) => {
  t.equal(versionsOf({ min: 1, max: 1 }), 1);
  t.same(versionsOf({ min: 1, max: 2 }), { min: 1, max: 2 });
});

t.test("a refusal names both ranges, and which side is behind", async (t) => {
  const ours = { min: 2, max: 3, name: "the appliance" };
  t.equal(
    refusalText("agent protocol", ours, { versions: 1, name: "the agent of n" }),
    "the agent of n speaks agent protocol 1, the appliance 2 to 3: upgrade the agent of n, or put the other back to its earlier release",
  );
  t.match(
    refusalText("agent protocol", ours, { versions: { min: 4, max: 5 }, name: "the agent of n" }),
    /4 to 5.*upgrade the appliance/,
  );
});
