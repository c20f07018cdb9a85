import t from "tap";
import { actorOf, behalfOf, decisionOf } from "../../src/authorization/in-the-log.ts";
import { COORDINATOR } from "../../src/authorization/caller.ts";
import { keyOf, sessionOf } from "./callers.ts";

const commit = (field: string, value: string) => `commitment of ${field} ${value}`;

t.test("each kind of caller is its own actor", async (t) => {
  t.same(actorOf(null, commit), { sub: "anonymous", kind: "anonymous" });
  t.same(actorOf(keyOf(), commit), { sub: "k1", kind: "key" });
  t.same(actorOf(COORDINATOR), { sub: "coordinator", kind: "system" });
  t.same(actorOf({ kind: "node", node: "n1", by: "certificate" }), { sub: "n1", kind: "node" });
  t.same(actorOf({ kind: "operator", person: null }, commit), {
    sub: "operator",
    kind: "operator",
  });
  t.same(actorOf({ kind: "operator", person: "anna (sudo: root)" }, commit), {
    ...{ sub: "operator", kind: "operator", sid: "commitment of actor.sid anna (sudo: root)" },
  });
  const session = sessionOf(
    { role: "researcher", projectId: "p1" },
    { role: "researcher", projectId: "p2" },
    { role: "compliance-auditor", projectId: null },
  );
  t.same(actorOf(session, commit), {
    ...{ sub: "u1", kind: "user", roles: ["compliance-auditor", "researcher"], acr: "1" },
    sid: "commitment of actor.sid s1",
  });
});

t.test("a key acts for its user, anybody else for himself", async (t) => {
  t.equal(behalfOf(keyOf()), "u1");
  for (const caller of [
    null,
    sessionOf(),
    COORDINATOR,
    { kind: "operator", person: null } as const,
  ])
    t.equal(behalfOf(caller), undefined);
});

t.test("a verdict is a decision with the ids of its policies", async (t) => {
  const policySet = "0".repeat(64);
  t.same(decisionOf({ effect: "allow", rows: "all", policies: ["audit-all"], policySet }), {
    effect: "allow",
    policy_set_sha256: policySet,
    policy_ids: ["audit-all"],
  });
});
