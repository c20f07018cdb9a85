import t from "tap";
import { type AccessFacts, accessMarks } from "../../../src/identity/decisions/access-marks.ts";

const DAY = 86_400_000;
const NOW = 1_000 * DAY;
const SOUND: AccessFacts = {
  ...{ roles: [], projects: [{ role: "researcher" }], keys: [], createdAt: 0 },
  ...{ lastSignInAt: NOW - DAY, hasSecondFactor: null, isGone: false },
};
const marks = (given: Partial<AccessFacts>) => accessMarks({ ...SOUND, ...given }, NOW);

t.test("somebody who signs in and uses what was given is nothing to look at", async (t) => {
  t.same(marks({}), []);
  t.same(marks({ keys: [{ createdAt: NOW - DAY, lastUsedAt: null }] }), [], "a new key");
  const used = [{ createdAt: 0, lastUsedAt: NOW - DAY }];
  t.same(marks({ lastSignInAt: null, keys: used }), [], "somebody who works by a key");
  t.same(marks({ lastSignInAt: null, projects: [] }), [], "no sign-in, and no right");
});

t.test("each thing that a reviewer must see is marked", async (t) => {
  t.same(marks({ roles: ["compliance-auditor", "security-officer"], projects: [] }), [
    "duties_conflict",
  ]);
  t.same(marks({ roles: ["platform-admin"], hasSecondFactor: true }), [
    "membership_without_effect",
  ]);
  t.same(marks({ lastSignInAt: NOW - 91 * DAY }), ["unused"]);
  t.same(marks({ lastSignInAt: null }), ["unused"], "never, since the account was made");
  t.same(marks({ keys: [{ createdAt: 0, lastUsedAt: NOW - 90 * DAY }] }), ["key_unused"]);
  t.same(marks({ isGone: true, lastSignInAt: null }), ["left_with_rights"]);
  t.same(marks({ isGone: true, projects: [] }), []);
  t.same(marks({ roles: ["data-steward"], hasSecondFactor: false }), ["no_second_factor"]);
  t.same(marks({ roles: ["data-steward"], hasSecondFactor: null }), [], "nothing is known of it");
});
