/** Deployments as models. */
import type { Route } from "@resontech/contracts/inference-routes";
import t from "tap";
import { findModel, modelsOf } from "../../src/openai/models.ts";

const route = (deployment: string, name: string, createdAt: number): Route => ({
  ...{
    deployment,
    name,
    createdAt,
    api: "openai",
    project: "p_1",
    aliases: [],
    visibility: "PRIVATE",
  },
  ...{ keySha256: "0".repeat(64), maxOngoingRequests: 1, replicas: [] },
  ...{ generation: 1, state: "HOT", wakeMs: 0 },
});
const routes: Route[] = [
  route("job-1", "chat", 1_500),
  route("job-2", "chat", 2_500),
  route("job-3", "job-1", 3_500),
  { ...route("job-4", "echo", 1), api: "predict" },
];

t.test("a model is found by name or id, of several the newest", async (t) => {
  t.equal(findModel(routes, "chat", null)?.deployment, "job-2");
  t.equal(findModel(routes, "job-2", null)?.deployment, "job-2");
  for (const name of ["echo", "job-4", "Chat", ""])
    t.equal(findModel(routes, name, null), null, name);
});

t.test("the list has each name once, and no predictor", async (t) => {
  t.same(modelsOf(routes, null), [
    { id: "chat", object: "model", created: 2, owned_by: "p_1" },
    { id: "job-1", object: "model", created: 3, owned_by: "p_1" },
  ]);
});

t.test("of one name the caller's own project has the first word", async (t) => {
  const both = [
    route("job-1", "chat", 1),
    { ...route("job-2", "chat", 2), project: "p_2", visibility: "PUBLIC" as const },
  ];
  t.equal(findModel(both, "chat", "p_1")?.deployment, "job-1");
  t.equal(findModel(both, "chat", "p_3")?.deployment, "job-2");
  t.equal(findModel(both, "job-2", "p_1")?.deployment, "job-2", "an id means that one");
  t.match(modelsOf(both, "p_1"), [{ id: "chat", owned_by: "p_1" }]);
});

t.test("who has taken another's place is found by its name and id as well", async (t) => {
  const newer = { ...route("job-5", "chat-2", 9_500), aliases: ["job-0"], formerNames: ["old"] };
  for (const name of ["chat-2", "job-5", "old", "job-0"])
    t.equal(findModel([newer], name, "p_1")?.deployment, "job-5", name);
  t.same(
    modelsOf([newer], "p_1").map(({ id }) => id),
    ["chat-2", "old"],
  );
  const taken = route("job-6", "old", 1);
  t.equal(findModel([newer, taken], "old", "p_1")?.deployment, "job-6", "whoever has it now");
});
