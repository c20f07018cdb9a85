import t from "tap";
import {
  allHeld,
  givenBeside,
  isConflict,
  rolesTaken,
} from "../../../src/identity/decisions/duties.ts";

t.test("who checks the others is none of them", async (t) => {
  t.equal(isConflict(["compliance-auditor", "platform-admin"]), true);
  t.equal(isConflict(["compliance-auditor", "security-officer"]), true);
  t.equal(isConflict(["compliance-auditor", "data-steward"]), false);
  t.equal(isConflict(["platform-admin", "security-officer"]), false);
});

t.test("an auditor is in no project, whoever would make him a member", async (t) => {
  const group = { projectId: "p1", role: "researcher" as const };
  t.same(givenBeside(["compliance-auditor"], [group]), []);
  t.same(givenBeside(["platform-admin"], [group]), [group]);
});

t.test("a token's roles pass the same check as a request's", async (t) => {
  t.same(rolesTaken(["platform-admin"], []), ["platform-admin"], "what excludes nothing is taken");
  t.same(rolesTaken([], ["platform-admin"]), [], "and what is gone is gone");
  const both = ["platform-admin", "compliance-auditor", "data-steward"] as const;
  t.same(rolesTaken(both, ["platform-admin"]), ["platform-admin", "data-steward"]);
  t.same(rolesTaken(both, ["compliance-auditor"]), ["compliance-auditor", "data-steward"]);
  t.same(rolesTaken(both, []), ["data-steward"], "neither, where neither was held");
  t.same(rolesTaken(both, both), ["data-steward"], "nor where an older release took both");
});

t.test("all that a person holds, each once", async (t) => {
  t.same(
    allHeld(["platform-admin"], [{ role: "viewer" }, { role: "researcher" }, { role: "viewer" }]),
    [...["platform-admin", "researcher", "viewer"]],
  );
});
