/** A kill at any point of an approval's answer. Keycloak, the log and the kill are a script here: after it no transaction comes through. */
import { join } from "node:path";
import type { Requested } from "@resontech/contracts/http-approvals";
import t, { type Test } from "tap";
import { ApprovalEffects, type ApprovalEffectsDeps } from "../../src/approvals/approval-effects.ts";
import { insertApproval } from "../../src/approvals/approval-store.ts";
import { Approvals } from "../../src/approvals/approvals.ts";
import { RoleChanges } from "../../src/approvals/role-changes.ts";
import { auditedOperation, type OperationRunner } from "../../src/audited-operation.ts";
import type { RecordEvent } from "../../src/audit-ports.ts";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase, type WriteHandle } from "../../src/db/open-database.ts";
import { insertPerson } from "../../src/identity/bucket-store.ts";
import { rolesOf, setRoles } from "../../src/identity/role-holders.ts";

const WHAT: Requested = {
  kind: "role",
  ...{ userId: "u_anna", role: "data-steward", change: "grant" },
};

function opened(t: Test) {
  const database = openDatabase(join(t.testdir(), "coordinator.db"));
  const groups = new GroupCommit(database.write);
  t.teardown(() => {
    groups.close();
    database[Symbol.dispose]();
  });
  const { read, write } = database;
  for (const name of ["anna", "root", "olga"])
    insertPerson(write, { userId: `u_${name}`, username: name, now: 1 });
  setRoles(write, "u_olga", ["security-officer"]);
  write.exec("CREATE TABLE said (type TEXT, phase TEXT)");
  insertApproval(write, {
    ...{ id: "a_1", what: WHAT, requesterId: "u_root", projectId: null, state: "requested" },
    ...{ deciderId: null, reason: null, singlePerson: false, createdAt: 1, expiresAt: 100 },
    decidedAt: null,
  });
  return { read, write, groups };
}

/** One life of the coordinator. @param left transactions and calls of Keycloak that come before the kill */
function life({ read, groups }: ReturnType<typeof opened>, left: number) {
  let steps = left;
  const step = () => {
    if (steps-- <= 0) throw new Error("killed");
  };
  const commit = {
    run: async <T>(work: (db: WriteHandle) => T) => {
      step();
      return await groups.run(work);
    },
  } as GroupCommit;
  const record: RecordEvent = (db, { type, phase }) =>
    void db.prepare("INSERT INTO said VALUES (?, ?)").run(type, phase);
  const keycloak = { setRole: async () => step(), resetSecondFactor: async () => step() };
  const shared = { read, commit, now: () => 5, links: keycloak, sessions: { endAllIn: () => 0 } };
  const roleChanges = new RoleChanges({
    ...{ ...shared, bucketKeys: { review: async () => {} } },
    onError: (error) => t.fail(String(error)),
  });
  const effects = new ApprovalEffects({ ...shared, roleChanges } as unknown as ApprovalEffectsDeps);
  const approvals = new Approvals({
    ...{ ...shared, record, effects, changes: { note: () => {} } },
    shares: { find: () => null },
  });
  const audit: OperationRunner = {
    operation: (parts, effect) => {
      const gate = {
        requested: async () => ({ index: 0, leafHash: "", unwitnessed: false }),
      };
      const draft = {
        ...{ type: parts.type, op: "op", actor: { sub: "u_olga", kind: "user" } },
        object: { kind: "appliance", id: "appliance" },
      } as const;
      const failed = () => ({ phase: "failed", code: "killed" }) as const;
      return auditedOperation({ gate, record, commit }, draft as never, [], failed, effect);
    },
  };
  return () =>
    approvals.answer(audit, "a_1", "approved", { deciderId: "u_olga", reason: null }).then(
      ({ state }) => state,
      (error: unknown) => (error as { code?: string }).code ?? String(error),
    );
}

for (const isBrought of [false, true])
  t.test(
    `a kill at any point of a role's approval leaves it whole, or to be approved again; ${isBrought ? "a token brings the role meanwhile" : "nothing comes between"}`,
    async (t) => {
      const seen: string[] = [];
      for (let left = 0; left < 6; left += 1) {
        const world = opened(t);
        const { read, write } = world;
        const state = () => read.prepare("SELECT state FROM approvals").pluck().get();
        await life(world, left)();
        const isWhole = state() === "approved";
        t.equal(rolesOf(read, "u_anna").includes("data-steward"), isWhole, `${left} steps`);
        seen.push(String(state()));
        // What Keycloak was told comes here with the person's next token.
        if (isBrought && left >= 2) setRoles(write, "u_anna", ["data-steward"]);
        t.equal(
          await life(world, Infinity)(),
          isWhole ? "approval_answered" : "approved",
          `${left} steps, again`,
        );
        t.same(rolesOf(read, "u_anna"), ["data-steward"]);
        t.same(
          write.prepare("SELECT type, phase FROM said WHERE phase = 'completed'").all(),
          ["iam.role.change", "iam.approval.answer"].map((type) => ({ type, phase: "completed" })),
          "both are on record, once",
        );
      }
      t.same(new Set(seen), new Set(["requested", "approved"]));
    },
  );

t.test("a role that came by another way is still no change", async (t) => {
  const world = opened(t);
  setRoles(world.write, "u_anna", ["data-steward"]);
  t.equal(await life(world, Infinity)(), "role_unchanged");
});
