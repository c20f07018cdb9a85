/** Changes of roles that come at once, and one that the second check refuses. Keycloak is a script here: what it does late is what is looked at. */
import { join } from "node:path";
import t, { type Test } from "tap";
import { RoleChanges } from "../../src/approvals/role-changes.ts";
import type { ApplianceRole } from "../../src/authorization/roles.ts";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { insertPerson, insertUser } from "../../src/identity/bucket-store.ts";
import { setMember } from "../../src/identity/project-store.ts";
import {
  acknowledgeRestored,
  standingRestored,
} from "../../src/identity/restored-administrators.ts";
import { rolesOf, setRoles } from "../../src/identity/role-holders.ts";

function opened(t: Test, held: Record<string, readonly ApplianceRole[]>) {
  const database = openDatabase(join(t.testdir(), "coordinator.db"));
  const commit = new GroupCommit(database.write);
  t.teardown(() => {
    commit.close();
    database[Symbol.dispose]();
  });
  const { read, write } = database;
  for (const [name, roles] of Object.entries(held)) {
    insertPerson(write, { userId: `u_${name}`, username: name, now: 1 });
    setRoles(write, `u_${name}`, roles);
  }
  const atKeycloak: string[] = [];
  const reviewed: (string | null)[] = [];
  const world = {
    ...{ read, write, commit, atKeycloak, reviewed },
    /** What happens while Keycloak thinks. */
    meanwhile: async (): Promise<void> => {},
    changes: new RoleChanges({
      ...{ read, commit, now: () => 5 },
      links: {
        setRole: async (userId, role, isGranted) => {
          await world.meanwhile();
          atKeycloak.push(`${isGranted ? "+" : "-"}${role} ${userId}`);
        },
      },
      sessions: { endAllIn: () => 0 },
      bucketKeys: { review: async (userId) => void reviewed.push(userId) },
      onError: (error) => t.fail(String(error)),
    }),
    atOnce: async (wanted: readonly (readonly [string, ApplianceRole, "grant" | "revoke"])[]) => {
      const settled = await Promise.allSettled(
        wanted.map(([userId, role, change]) =>
          world.changes.inTurn(() =>
            world.changes.change(userId, { role, change }, { settled: () => {}, isBegun: false }),
          ),
        ),
      );
      return settled.map((one) =>
        one.status === "fulfilled" ? "done" : (one.reason as { code: string }).code,
      );
    },
  };
  return world;
}

t.test("two administrators take the role from each other at once: one stays", async (t) => {
  const { atOnce, read, atKeycloak } = opened(t, {
    ...{ anna: ["platform-admin"], bert: ["platform-admin"] },
  });
  t.same(
    await atOnce([
      ["u_anna", "platform-admin", "revoke"],
      ["u_bert", "platform-admin", "revoke"],
    ]),
    ["done", "last_admin"],
  );
  t.same(rolesOf(read, "u_bert"), ["platform-admin"]);
  t.same(atKeycloak, ["-platform-admin u_anna"], "Keycloak never heard of the second");
});

t.test("two duties that exclude each other are granted at once: one is", async (t) => {
  const { atOnce, read, reviewed } = opened(t, { anna: [] });
  t.same(
    await atOnce([
      ["u_anna", "compliance-auditor", "grant"],
      ["u_anna", "security-officer", "grant"],
    ]),
    ["done", "duties_conflict"],
  );
  t.same(rolesOf(read, "u_anna"), ["compliance-auditor"]);
  t.same(reviewed, ["u_anna"], "key pairs follow");
});

t.test("what the check in the transaction refuses is taken back at Keycloak", async (t) => {
  const world = opened(t, { anna: [] });
  const { write, read, atKeycloak } = world;
  insertUser(write, {
    ...{ userId: "u_lead", username: "lead", projectId: "p_1", bucket: "lead-1" },
    ...{ quotaBytes: 1, now: 1 },
  });
  world.meanwhile = async () => setMember(write, "p_1", "u_anna", "researcher", 1);
  t.same(await world.atOnce([["u_anna", "compliance-auditor", "grant"]]), ["duties_conflict"]);
  t.same(atKeycloak, ["+compliance-auditor u_anna", "-compliance-auditor u_anna"]);
  t.same(rolesOf(read, "u_anna"), []);
});

t.test("a token that brings the new role first is no other change", async (t) => {
  const world = opened(t, { anna: [] });
  world.meanwhile = async () => setRoles(world.write, "u_anna", ["data-steward"]);
  t.same(await world.atOnce([["u_anna", "data-steward", "grant"]]), ["done"]);
  t.same(rolesOf(world.read, "u_anna"), ["data-steward"]);
});

t.test("the finding of an administrator made at the host stands with the role", async (t) => {
  const world = opened(t, { anna: [], olga: ["security-officer"], aude: ["compliance-auditor"] });
  const { read, write, changes } = world;
  world.meanwhile = () => Promise.reject(new Error("killed before Keycloak heard of it"));
  await t.rejects(changes.restore("u_anna", () => t.fail("not settled")));
  t.same(rolesOf(read, "u_anna"), ["platform-admin"]);
  t.match(standingRestored(read), [{ userId: "u_anna", username: "anna", restoredAt: 5 }]);
  world.meanwhile = async () => {};
  await changes.restore("u_anna", () => {});
  t.equal(standingRestored(read).length, 1, "the same command goes on from there");
  t.same(world.atKeycloak, ["+platform-admin u_anna"]);
  await t.rejects(
    changes.restore("u_aude", () => {}),
    { code: "duties_conflict" },
  );
  await t.rejects(
    changes.restore("u_nobody", () => {}),
    { code: "not_found" },
  );

  t.throws(() => acknowledgeRestored(write, { userId: "u_anna", by: "u_anna", now: 6 }), {
    code: "own_request",
  });
  acknowledgeRestored(write, { userId: "u_anna", by: "u_olga", now: 6 });
  t.same(standingRestored(read), []);
});

t.test("the finding ends when somebody is there who was not there then", async (t) => {
  const { read, write, changes } = opened(t, { anna: [], bert: [] });
  await changes.restore("u_anna", () => {});
  t.equal(standingRestored(read).length, 1);
  setRoles(write, "u_bert", ["security-officer"]);
  t.same(standingRestored(read), []);
});

t.test("the column of the release before says what the rows say", async (t) => {
  const { read, write } = opened(t, { anna: ["platform-admin"] });
  const column = () => read.prepare("SELECT is_admin FROM users WHERE id = 'u_anna'").pluck().get();
  t.equal(column(), 1);
  setRoles(write, "u_anna", ["data-steward"]);
  t.equal(column(), 0);
});
