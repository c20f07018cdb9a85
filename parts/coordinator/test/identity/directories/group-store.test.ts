import { join } from "node:path";
import t, { type Test } from "tap";
import { openDatabase } from "../../../src/db/open-database.ts";
import { insertUser } from "../../../src/identity/bucket-store.ts";
import {
  areGroupsNoted,
  listGroupRoles,
  mapGroup,
  noteGroups,
  unmapGroup,
} from "../../../src/identity/directories/group-store.ts";
import {
  openRequests,
  requestRoleOnRecord,
} from "../../../src/identity/directories/request-role.ts";
import {
  groupsThatGiveNothing,
  heldBy,
  membershipsOf,
} from "../../../src/identity/people-store.ts";
import { setRoles } from "../../../src/identity/role-holders.ts";

function opened(t: Test) {
  const database = openDatabase(join(t.testdir(), "coordinator.db"));
  t.teardown(() => database[Symbol.dispose]());
  for (const name of ["erika", "owner"])
    insertUser(database.write, {
      ...{ userId: `u_${name}`, username: name, projectId: `p_${name}` },
      ...{ bucket: name, quotaBytes: 1, now: 1 },
    });
  return database;
}

t.test("a group gives one role in a project, and takes it with its mapping", async (t) => {
  const { read, write } = opened(t);
  const roles = () =>
    membershipsOf(read, "u_erika").map(({ projectId, role }) => `${projectId} ${role}`);
  t.same(roles(), ["p_erika project-lead"]);
  mapGroup(write, { group: "corp/doctors", project: "p_owner", role: "viewer" });
  mapGroup(write, { group: "corp/doctors", project: "p_owner", role: "researcher" });
  mapGroup(write, { group: "corp/doctors", project: "p_erika", role: "viewer" });
  t.notOk(areGroupsNoted(read, "u_erika", ["corp/doctors"]));
  t.same(noteGroups(write, "u_erika", ["corp/doctors", "corp/nothing"]), []);
  t.ok(areGroupsNoted(read, "u_erika", ["corp/doctors", "corp/others"]));
  t.same(roles(), ["p_erika project-lead", "p_owner researcher"], "a group weakens nobody");
  t.same(
    read.prepare("SELECT group_name FROM user_groups").pluck().all(),
    ["corp/doctors"],
    "what means nothing here is not kept",
  );
  t.notOk(areGroupsNoted(read, "u_erika", []));
  noteGroups(write, "u_erika", []);
  t.same(roles(), ["p_erika project-lead"]);
  noteGroups(write, "u_erika", ["corp/doctors"]);
  t.equal(unmapGroup(write, "corp/doctors", "p_owner"), 1);
  t.equal(unmapGroup(write, "corp/doctors", "p_owner"), 0);
  t.same(roles(), ["p_erika project-lead"]);
});

t.test("a group makes no auditor a member, and a finding names it", async (t) => {
  const { read, write } = opened(t);
  mapGroup(write, { group: "corp/doctors", project: "p_owner", role: "researcher" });
  noteGroups(write, "u_erika", ["corp/doctors"]);
  t.same(groupsThatGiveNothing(read), []);
  t.ok(heldBy(read, "u_erika").includes("researcher"));
  setRoles(write, "u_erika", ["compliance-auditor"]);
  t.same(membershipsOf(read, "u_erika"), []);
  t.same(heldBy(read, "u_erika"), ["compliance-auditor"], "nothing blinds the auditor");
  t.same(groupsThatGiveNothing(read), [
    { username: "erika", group: "corp/doctors", project: "default" },
  ]);
  setRoles(write, "u_erika", []);
  t.same(
    membershipsOf(read, "u_erika", ["compliance-auditor"]),
    [],
    "nor one whom a newer token names auditor",
  );
});

t.test("a role of the whole appliance is asked for, once", async (t) => {
  const { read, write } = opened(t);
  const told: unknown[] = [];
  const requestRole = requestRoleOnRecord(
    (_db, draft) => void told.push(draft),
    () => 1,
  );
  mapGroup(write, { group: "corp/it", project: null, role: "platform-admin" });
  mapGroup(write, { group: "corp/it", project: null, role: "platform-admin" });
  t.same(listGroupRoles(read), [{ group: "corp/it", project: null, role: "platform-admin" }]);
  for (const _time of [1, 2])
    for (const role of noteGroups(write, "u_erika", ["corp/it"]))
      requestRole(write, "u_erika", role);
  t.equal(told.length, 1);
  t.same(openRequests(read), [{ username: "erika", role: "platform-admin" }]);
  t.ok(areGroupsNoted(read, "u_erika", ["corp/it"]));
  t.equal(membershipsOf(read, "u_erika").length, 1, "and given to nobody");
  mapGroup(write, { group: "corp/it", project: null, role: "data-steward" });
  t.notOk(areGroupsNoted(read, "u_erika", ["corp/it"]), "a new wish is asked for, too");
});
