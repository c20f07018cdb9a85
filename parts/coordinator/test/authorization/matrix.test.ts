/** Every action × every kind of caller × whose the row is, against the table in the README, which states the policy a second time. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import { POLICIES } from "@resontech/contracts/policies";
import fc from "fast-check";
import t from "tap";
import { type Action, ACTIONS } from "../../src/authorization/actions.ts";
import type { Caller, RoleGrant } from "../../src/authorization/caller.ts";
import type { Given } from "../../src/authorization/cedar-principal.ts";
import type { Asked } from "../../src/authorization/decide.ts";
import { policiesInForce } from "../../src/authorization/policies-in-force.ts";
import { tells } from "../../src/authorization/resources.ts";
import { APPLIANCE_ROLES, PROJECT_ROLES } from "../../src/authorization/roles.ts";
import { isInFilter } from "../../src/db/row-filter.ts";
import {
  inProject,
  keyOf,
  onAppliance,
  OTHERS,
  PEOPLE,
  SERVICE_ACCOUNT,
  sessionOf,
} from "./callers.ts";
import { dutiesTable } from "./duties-table.ts";
import { ask, cellsOf, ROWS, signedIn, symbolOf } from "./cells.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");
const README = readFileSync(
  join(ROOT, "parts", "coordinator", "src", "authorization", "README.md"),
  "utf8",
);
const NAMES = Object.keys(ACTIONS) as Action[];

const CALLERS: readonly (readonly [string, Caller])[] = [
  ["a key", keyOf()],
  ["an administrator's key", keyOf(KEY_SCOPES, "platform-admin")],
  ["a key without scopes", keyOf([])],
  ...PROJECT_ROLES.map((role) => [`a key of a ${role}`, keyOf(KEY_SCOPES, null, role)] as const),
  ["a session without roles", sessionOf()],
  ...PEOPLE,
  ...OTHERS,
];

t.test("the README's table is the policy, cell by cell", async (t) => {
  const stated = README.split("\n")
    .map((line) => /^\| `([^`]+)` \| ((?:[^|]+ \| ){3}[^|]+) \|$/.exec(line))
    .filter((row) => row !== null)
    .map(([, action, cells]) => [action, cells]);
  const decided = NAMES.map((action) => [action, `${ACTIONS[action]} | ${cellsOf(action)}`]);
  t.ok(decided.length > 70);
  t.same(stated, decided);
});

t.test("the table of roles in policies/README.md is the policy, cell by cell", async (t) => {
  const rows = readFileSync(join(ROOT, "policies", "README.md"), "utf8")
    .split("\n")
    .map((line) => /^\| ([^|]+) \| `([a-z.-]+)` \| ((?:[^|]+ \| ){8}[^|]+) \|/.exec(line))
    .filter((row) => row !== null)
    .map(([, permission = "", action = "", cells = ""]) => ({ permission, action, cells }));
  const roles = [...APPLIANCE_ROLES.slice(0, 4), ...PROJECT_ROLES, "break-glass"];
  for (const { permission, action, cells } of rows) {
    t.ok(action in ACTIONS, action);
    const decided = roles.map((role) => symbolOf(role, action as Action)).join(" | ");
    t.equal(cells, decided, `${permission}: ${action}`);
  }
  t.same(
    [...new Set(rows.map(({ permission }) => permission))],
    [
      ...["Install/update/node/quota", "Users, role bindings", "Policy set, egress exception"],
      ...["Job submit/cancel", "Read inputs / model outputs", "Export outputs off the box"],
      ...["Read/search/export audit log", "Erasure approve"],
    ],
  );
  t.notOk(
    NAMES.some((action) => action.startsWith("audit.") && !/(search|read)$/.test(action)),
    "nothing deletes or alters the audit log",
  );
});

t.test("a list shows the rows that may be asked for one by one, and no other", async (t) => {
  for (const action of NAMES)
    for (const [name, caller] of CALLERS) {
      const verdict = ask(caller, action, "rows");
      for (const [owner, row] of Object.entries(ROWS)) {
        const single = ask(caller, action, row).effect === "allow";
        const listed = verdict.effect === "allow" && isInFilter(verdict.rows, row);
        t.equal(single, listed, `${action} by ${name} on ${owner}`);
      }
    }
});

t.test(
  "what is not there and what is out of reach are refused alike, with code, status and hint",
  async (t) => {
    for (const action of NAMES)
      for (const [name, caller] of CALLERS) {
        const absent = ask(caller, action, null);
        const strangers = ask(caller, action, ROWS.strangers);
        if (strangers.effect === "deny") t.same(absent, strangers, `${action} by ${name}`);
        t.equal(absent.effect, "deny", `${action} by ${name} on nothing`);
        if (absent.effect !== "deny") continue;
        t.match(absent, ERROR_CATALOGUE[absent.code], absent.code);
        for (const policy of absent.policies) t.ok(policy in POLICIES, policy);
      }
  },
);

t.test("refusals keep their words", async (t) => {
  const refusal = (caller: Caller, action: Action, asked: Asked<"job.read">) => {
    const verdict = ask(caller, action, asked);
    return verdict.effect === "allow"
      ? null
      : [verdict.status, verdict.code, verdict.message, ...verdict.policies];
  };
  t.same(refusal(keyOf(["jobs:read"]), "job.submit", "rows"), [
    ...[403, "scope_missing", "this key lacks the scope jobs:write", "key-scope"],
  ]);
  t.same(refusal(keyOf(), "node.list", "rows"), [
    403,
    "role_required",
    "only an administrator may do this",
    "admin-role",
  ]);
  t.same(refusal(keyOf(["keys"]), "node.list", "rows"), [
    ...[403, "scope_missing", "this key lacks the scope nodes:read", "key-scope"],
  ]);
  t.same(refusal(keyOf(), "key.mint", ROWS.mine), [
    ...[403, "session_only", "a platform key can't mint a platform key", "key-by-session"],
  ]);
  t.same(refusal(keyOf(["jobs:read"]), "key.mint", "rows"), [
    ...[403, "scope_missing", "this key lacks the scope keys", "key-scope"],
  ]);
  t.same(refusal(keyOf(), "user.create", "rows"), [
    403,
    "role_required",
    "this caller may not do this",
    "no-grant",
  ]);
  t.same(refusal(keyOf(), "job.read", ROWS.strangers), [404, "not_found", "there is no such task"]);
  t.same(refusal(keyOf(), "key.revoke", ROWS.strangers), [
    404,
    "not_found",
    "there is no such key",
  ]);
  t.same(refusal(keyOf(), "bucket.read", null), [
    404,
    "bucket_missing",
    "the project has no bucket yet",
  ]);
});

t.test("what was allowed names its policy where the log asks for it", async (t) => {
  for (const action of ["audit.search", "audit.read"] as const) {
    t.match(ask(keyOf(KEY_SCOPES, "security-officer"), action, "rows"), {
      ...{ rows: "all", policies: ["audit-all"] },
    });
    t.match(ask(keyOf(), action, "rows"), { rows: [{ userId: "u1" }], policies: ["audit-own"] });
    t.match(ask(onAppliance("compliance-auditor"), action, "rows"), {
      rows: "all",
      policies: ["audit-all"],
    });
  }
  t.same(ask(keyOf(), "job.list", "rows"), {
    effect: "allow",
    rows: [{ projectId: "p1" }],
    policies: [],
    policySet: policiesInForce().sha256,
  });
});

t.test("roles are those of the realm", async (t) => {
  const realm = JSON.parse(
    readFileSync(
      join(import.meta.dirname, "..", "..", "..", "..", "policies", "realm.json"),
      "utf8",
    ),
  ) as {
    roles: { name: string }[];
  };
  t.same(
    new Set([...APPLIANCE_ROLES, ...PROJECT_ROLES]),
    new Set(realm.roles.map(({ name }) => name)),
  );
});

t.test(
  "what weighs much needs a fresh sign-in, and says so where nothing else is missing",
  async (t) => {
    const researcher = inProject("researcher");
    const code = (caller: Caller, action: Action, row: Asked<"job.read"> = ROWS.mine) => {
      const verdict = ask(caller, action, row);
      return verdict.effect === "allow" ? "ok" : `${verdict.code} ${verdict.policies.join()}`;
    };
    t.equal(code(signedIn(researcher, 1), "key.mint"), "ok");
    t.equal(code(signedIn(researcher, 4.99), "key.mint"), "ok");
    t.equal(code(signedIn(researcher, 5.01), "key.mint"), "step_up_required step-up");
    t.equal(code(signedIn(researcher, 1, "1"), "key.mint"), "step_up_required step-up");
    t.equal(code(signedIn(researcher, 1, "gold"), "key.mint"), "step_up_required step-up");
    t.equal(
      code(signedIn(researcher, -0.5), "key.mint"),
      "step_up_required step-up",
      "half a minute from now",
    );
    t.equal(code(signedIn(inProject("viewer"), 9), "key.mint"), "role_required no-grant");
    t.equal(code(signedIn(researcher, 1), "key.mint", ROWS.strangers), "not_found ");
    t.equal(code(signedIn(researcher, 9), "job.read"), "ok", "what doesn't needs none");
  },
);

t.test("what weighs most needs another person", async (t) => {
  const admin = signedIn(onAppliance("platform-admin"), 1);
  const code = (caller: Caller, given: Given) => {
    const verdict = ask(caller, "role.change", "every", given);
    return verdict.effect === "allow" ? "ok" : `${verdict.code} ${verdict.policies.join()}`;
  };
  const approved = { approval: { approverId: "u2" } };
  t.equal(code(admin, {}), "approval_required two-people");
  t.equal(code(admin, { approval: { approverId: "u1" } }), "approval_required two-people", "own");
  t.equal(code(admin, approved), "ok");
  t.equal(code(admin, { singlePerson: true }), "ok");
  t.equal(code(signedIn(admin, 9), {}), "approval_required two-people", "before the sign-in");
  t.equal(code(signedIn(admin, 9), approved), "step_up_required step-up");
  const officer = signedIn(onAppliance("security-officer"), 1);
  t.match(ask(officer, "role.decide", ROWS.strangers), { rows: [{ not: { userId: "u1" } }] });
  t.match(ask(officer, "role.decide", ROWS.mine), {
    ...{ code: "own_request", status: 403, policies: ["four-eyes"] },
  });
  t.equal(ask(officer, "role.decide", ROWS.mine, { singlePerson: true }).effect, "allow");
});

t.test("duties stay apart, whatever somebody was given", async (t) => {
  const auditor = { role: "compliance-auditor", projectId: null } as const;
  const conflicts: RoleGrant[] = [
    { role: "platform-admin", projectId: null },
    { role: "security-officer", projectId: null },
    { role: "researcher", projectId: "p1" },
  ];
  for (const other of conflicts)
    for (const action of ["audit.search", "audit.read", "people.read"] as const)
      t.match(
        ask(sessionOf(auditor, other), action, "rows"),
        { code: "role_conflict", status: 403, policies: ["separation-of-duties"] },
        `${other.role} ${action}`,
      );
  const both = sessionOf(auditor, conflicts[0]!);
  t.equal(ask(both, "session.end", ROWS.mine).effect, "allow", "but they may sign out");
  t.equal(
    ask(sessionOf(auditor, { role: "data-steward", projectId: null }), "audit.read", "rows").effect,
    "allow",
  );
  const admin = sessionOf(
    { role: "platform-admin", projectId: null },
    { role: "project-lead", projectId: "p1" },
  );
  for (const action of ["job.read", "job.list", "job.outputs.list", "bucket.read"] as const)
    t.match(
      ask(admin, action, "rows"),
      { code: "role_conflict", policies: ["admin-sees-no-data"] },
      action,
    );
  t.equal(ask(admin, "job.cancel", ROWS.mine).effect, "allow");
});

t.test("the table of duties is the policy, cell by cell", async (t) => {
  const document = readFileSync(join(ROOT, "docs", "auditor", "duties.md"), "utf8");
  const stated = /\| action \|[\s\S]*?(?=\n\n)/.exec(document)?.[0].split("\n");
  t.same(stated, dutiesTable().split("\n"));
  t.ok((stated?.length ?? 0) > 30);
});

t.test("a duty binds its person by every credential, shown or not", async (t) => {
  const refusalOf = (caller: Caller, action: Action): string => {
    const verdict = ask(caller, action, ROWS.mine);
    return verdict.effect === "allow" ? "allowed" : verdict.policies.join();
  };
  const held = ["platform-admin", "researcher"] as const;
  const byPassword = { ...inProject("researcher"), holds: held };
  const account = { ...SERVICE_ACCOUNT, holds: held };
  for (const action of ["job.read", "job.list", "bucket.read", "bucket.write"] as const)
    for (const caller of [keyOf(KEY_SCOPES, "platform-admin", "researcher"), byPassword, account])
      t.equal(refusalOf(caller, action), "admin-sees-no-data", `${action} by ${caller.kind}`);
  const key = keyOf(KEY_SCOPES, "platform-admin", "researcher");
  t.equal(refusalOf(key, "bucket.key.rotate"), "admin-sees-no-data");
  t.equal(refusalOf(byPassword, "user.list"), "no-grant", "and gives nothing that is not shown");
  for (const action of ["job.list", "key.list", "audit.search", "fleet.read"] as const)
    t.match(
      ask(keyOf(KEY_SCOPES, "compliance-auditor"), action, "rows"),
      { code: "role_conflict", message: /sign in, or take the log by the SIEM export/ },
      action,
    );
  t.match(ask(signedIn(onAppliance("compliance-auditor"), 1), "key.mint", "rows"), {
    ...{ code: "role_conflict", policies: ["auditor-mints-no-key"] },
  });
});

t.test("roles add up, each in its own project", async (t) => {
  const both = sessionOf(
    { role: "researcher", projectId: "p1" },
    { role: "project-lead", projectId: "p2" },
  );
  t.match(ask(both, "job.read", "rows"), {
    rows: [{ projectId: "p1", userId: "u1" }, { projectId: "p2" }],
  });
  t.equal(ask(both, "job.read", ROWS.mine).effect, "allow");
  t.equal(
    ask(both, "job.read", ROWS.projects).effect,
    "deny",
    "a colleague's job where the person is a researcher",
  );
  t.equal(
    ask(both, "job.read", ROWS.strangers).effect,
    "allow",
    "anybody's where the person leads",
  );
  t.equal(
    ask(inProject("researcher"), "job.read", { userId: "u1", projectId: "p2" }).effect,
    "deny",
    "an own job of a project left",
  );
});

t.test(
  "no role of a project reaches beyond the project, and none of the appliance reads a job",
  async (t) => {
    const role = fc
      .constantFrom(...PROJECT_ROLES)
      .map((role): RoleGrant => ({ role, projectId: "p1" }));
    const strange = { userId: "u1", projectId: "p2", node: "n9" };
    fc.assert(
      fc.property(fc.array(role), fc.constantFrom(...NAMES), (grants, action) => {
        const mine = action.startsWith("approval.");
        const verdict = ask(signedIn(sessionOf(...grants), 1), action, strange);
        return verdict.effect === "deny" || !tells(ACTIONS[action], "projectId") || mine;
      }),
    );
    for (const role of APPLIANCE_ROLES)
      for (const action of [
        "job.read",
        "job.list",
        "job.outputs.list",
        "job.inputs.read",
        "bucket.read",
      ] as const)
        t.equal(ask(onAppliance(role), action, "rows").effect, "deny", `${role} ${action}`);
  },
);
