/** When a request of two people admits an image. */
import t from "tap";
import { requireApprovedImage } from "../../src/images/decisions/approved-image.ts";

const DAY_MS = 24 * 3_600_000;
const image = { name: "triton", digest: `sha256:${"a".repeat(64)}` };
const approval: Parameters<typeof requireApprovedImage>[0] = {
  id: "a_1",
  what: { kind: "image", ...image },
  state: "approved",
  decidedAt: 1_000,
};
const require = (change: object, asked = image, now = 1_000) =>
  requireApprovedImage({ ...approval, ...change }, asked, now);

t.test("it is approved, recently, for this very image and name", async (t) => {
  t.doesNotThrow(() => require({}));
  t.doesNotThrow(() => require({}, image, 1_000 + 30 * DAY_MS));
  const required = { code: "approval_required" };
  t.throws(() => require({}, image, 1_001 + 30 * DAY_MS), required);
  t.throws(() => require({}, { ...image, name: "other" }), required);
  for (const state of ["requested", "denied", "withdrawn", "expired"])
    t.throws(() => require({ state }), required, state);
  const other = { ...image, digest: `sha256:${"b".repeat(64)}` };
  t.throws(() => require({}, other), { code: "image_digest_differs" });
  t.throws(() => require({ what: { kind: "second-factor", userId: "u" } }), { code: "not_found" });
  t.throws(() => requireApprovedImage(null, image, 1_000), { code: "not_found" });
});
