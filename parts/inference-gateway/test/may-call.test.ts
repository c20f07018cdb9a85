/** Which key opens which deployment. */
import { createHash } from "node:crypto";
import type { CallerKey, Route } from "@resontech/contracts/inference-routes";
import t from "tap";
import { mayCall, shownKey } from "../src/may-call.ts";

const digest = (key: string) => createHash("sha256").update(key).digest("hex");
const route = (change: Partial<Route> = {}): Route => ({
  ...{ deployment: "job-1", name: "d", createdAt: 0, api: "predict", project: "p_1", aliases: [] },
  ...{ visibility: "PRIVATE", keySha256: digest("own"), maxOngoingRequests: 1 },
  ...{ generation: 1, state: "HOT", wakeMs: 0, replicas: [], ...change },
});
const ofProject = (project: string, key: string): CallerKey => ({
  ...{ id: key, sha256: digest(key), project, expiresAt: 1_000 },
});
const keys = new Map(
  [ofProject("p_1", "of-1"), ofProject("p_2", "of-2")].map((key) => [key.sha256, key]),
);
const may = (key: string | null, change: Partial<Route> = {}, now = 0) =>
  mayCall(route(change), shownKey(key, keys, now));

t.test("a predict key opens its own deployment alone, PUBLIC or not", async (t) => {
  t.equal(may("own"), true);
  for (const visibility of ["PRIVATE", "PUBLIC"] as const)
    t.equal(may("own", { keySha256: digest("other"), visibility }), false, visibility);
});

t.test("a platform key opens its project's deployments and every PUBLIC one", async (t) => {
  t.equal(may("of-1"), true);
  t.equal(may("of-2"), false);
  t.equal(may("of-2", { visibility: "PUBLIC" }), true);
  t.equal(may("of-1", {}, 1_000), false, "until it is over");
});

t.test("nobody is anonymous", async (t) => {
  for (const key of [null, "", "unknown"])
    for (const visibility of ["PRIVATE", "PUBLIC"] as const)
      t.equal(may(key, { visibility }), false, `${key} ${visibility}`);
  t.equal(mayCall(null, shownKey("of-1", keys, 0)), false);
});
