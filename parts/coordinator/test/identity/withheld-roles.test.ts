/** What a token names and nobody gets, on record. */
import { join } from "node:path";
import t from "tap";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { rolesTaken } from "../../src/identity/decisions/duties.ts";
import { WithheldRoles } from "../../src/identity/sign-in/withheld-roles.ts";
import { RecordingAudit } from "../helper/recording-audit.ts";

t.test("a role that a token names and that is not taken is on record once a change", async (t) => {
  const database = openDatabase(join(t.testdir(), "coordinator.db"));
  const commit = new GroupCommit(database.write);
  t.teardown(() => {
    commit.close();
    database[Symbol.dispose]();
  });
  const audit = new RecordingAudit();
  const withheld = new WithheldRoles(commit, audit.record);
  const token = (userId: string, named: Parameters<typeof rolesTaken>[0]) =>
    commit.run((db) => withheld.note(db, userId, named, rolesTaken(named, ["compliance-auditor"])));
  const said = () => audit.drafts.splice(0).map(({ object, detail }) => [object.id, detail]);

  await token("u_aude", ["compliance-auditor"]);
  t.same(said(), [], "all is taken");
  for (let count = 0; count < 3; count += 1)
    await token("u_aude", ["compliance-auditor", "platform-admin", "data-steward"]);
  t.same(said(), [
    ["u_aude", { roles: ["platform-admin"], held: ["compliance-auditor", "data-steward"] }],
  ]);
  await t.rejects(
    commit.run((db) => {
      withheld.note(db, "u_aude", ["platform-admin"], ["platform-admin"]);
      throw new Error("rolled back");
    }),
  );
  said();
  await token("u_aude", ["compliance-auditor", "security-officer", "platform-admin"]);
  t.same(
    said(),
    [["u_aude", { roles: ["platform-admin", "security-officer"], held: ["compliance-auditor"] }]],
    "what was rolled back was not said",
  );
  await token("u_aude", ["compliance-auditor"]);
  t.same(said(), [["u_aude", { roles: [], held: ["compliance-auditor"] }]], "it is over");
});
