import t from "tap";
import { type Numbers, sharedNumbers } from "../src/preflight/shared-numbers.ts";

const own: Numbers = {
  ...{ uids: [61_000, 61_001, 61_020], jobUids: { from: 1_900_000_000, to: 1_900_065_535 } },
  ...{ ports: [8_000, 5_433], jobPorts: { from: 29_000, to: 29_099 }, address: "10.0.0.1" },
};
const apart: Numbers = {
  ...{ uids: [62_000], jobUids: { from: 1_800_000_000, to: 1_800_065_535 } },
  ...{ ports: [9_000], jobPorts: { from: 29_100, to: 29_199 }, address: "10.0.0.1" },
};
const beside = (change: Partial<Numbers>) =>
  sharedNumbers(own, [{ root: "/b", ...apart, ...change }]);

t.test("each kind of number that two installs share is named with the other one", async (t) => {
  t.same(beside({}), []);
  t.same(beside({ uids: [61_001, 61_020, 7] }), ["users 61001-61020 with /b"]);
  t.same(
    beside({ uids: [1_900_000_007] }),
    ["users 1900000007 with /b"],
    "of the jobs of this one",
  );
  t.same(
    beside({ jobUids: { from: 61_020, to: 61_020 } }),
    ["users 61020 with /b"],
    "and of that one",
  );
  t.same(beside({ jobUids: own.jobUids }), ["users of jobs with /b"]);
  t.same(beside({ ports: [8_000, 1] }), ["ports 8000 with /b"]);
  t.same(beside({ jobPorts: { from: 29_099, to: 29_150 } }), ["ports of jobs with /b"]);
  t.same(beside({ jobPorts: own.jobPorts, address: "10.0.0.2" }), []);
});
