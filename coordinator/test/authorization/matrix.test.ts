/** Every action × every kind of caller × whose the row is, against the table in the README, which states the policy a second time. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CATALOGUE } from "@resontech/contracts/error-catalogue";
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import { POLICIES } from "@resontech/contracts/policies";
import fc from "fast-check";
import t from "tap";
import type { Caller, RoleGrant } from "../../src/authorization/caller.ts";
import { type Asked, decide, type Verdict } from "../../src/authorization/decide.ts";
import {
  type Action,
  APPLIANCE_ROLES,
  POLICY,
  PROJECT_ROLES,
  RESOURCES,
} from "../../src/authorization/policy.ts";
import { isInFilter } from "../../src/db/row-filter.ts";
import { inProject, keyOf, onAppliance, OTHERS, PEOPLE, sessionOf } from "./callers.ts";

const README = readFileSync(
  join(import.meta.dirname, "..", "..", "src", "authorization", "README.md"),
  "utf8",
);
const ACTIONS = Object.keys(POLICY) as Action[];
/** Rows by whose they are. Each has every attribute: an action looks at those of its kind. */
const ROWS = {
  mine: { userId: "u1", projectId: "p1", node: "n1" },
  projects: { userId: "u2", projectId: "p1", node: "n2" },
  strangers: { userId: "u3", projectId: "p2", node: "n3" },
};
const MISSING = "-";

/** The kinds of row differ by action; all of them fit into one that has every attribute. */
const ask = (
  caller: Caller,
  action: Action,
  asked: Asked<"job.read"> | (typeof ROWS)["mine"],
): Verdict => decide(caller, action, asked as Asked<Action>);

/** How far a caller reaches, found by asking for a row of each owner; null where he may not ask at all. */
function reachOf(caller: Caller, action: Action): string | null {
  if (ask(caller, action, "rows").effect === "deny") return null;
  const allowed = Object.entries(ROWS).flatMap(([name, row]) =>
    ask(caller, action, row).effect === "allow" ? [name] : [],
  );
  if (ask(caller, action, "every").effect === "allow") allowed.push("every");
  switch (allowed.join(" ")) {
    case "":
      return "nobody";
    case "mine":
      return "own";
    case "mine projects":
      return "project";
    case "mine projects strangers every":
      return "all";
    default:
      return allowed.join(" ");
  }
}

/** `jobs:read: project`, and what an administrator's key reaches where that is more. */
function cellOfKeys(action: Action): string {
  const cells = KEY_SCOPES.flatMap((scope) => {
    const plain = reachOf(keyOf([scope]), action);
    const admin = reachOf(keyOf([scope], true), action);
    return [
      ...(plain === null ? [] : [`${scope}: ${plain}`]),
      ...(admin === plain ? [] : [`${scope} of an administrator: ${admin}`]),
    ];
  });
  return cells.join(" · ") || MISSING;
}

function cellOf(callers: readonly (readonly [string, Caller])[], action: Action): string {
  const cells = callers.flatMap(([name, caller]) => {
    const reach = reachOf(caller, action);
    return reach === null ? [] : [`${name}: ${reach}`];
  });
  return cells.join(" · ") || MISSING;
}

const CALLERS: readonly (readonly [string, Caller])[] = [
  ["a key", keyOf()],
  ["an administrator's key", keyOf(KEY_SCOPES, true)],
  ["a key without scopes", keyOf([])],
  ["a session without roles", sessionOf()],
  ...PEOPLE,
  ...OTHERS,
];

t.test("the README's table is the policy, cell by cell", async (t) => {
  const stated = README.split("\n")
    .map((line) => /^\| `([^`]+)` \| ((?:[^|]+ \| ){3}[^|]+) \|$/.exec(line))
    .filter((row) => row !== null)
    .map(([, action, cells]) => [action, cells]);
  const decided = ACTIONS.map((action) => {
    const cells = [
      POLICY[action].on,
      cellOfKeys(action),
      cellOf(PEOPLE, action),
      cellOf(OTHERS, action),
    ];
    return [action, cells.join(" | ")];
  });
  t.ok(decided.length > 50);
  t.same(stated, decided);
});

t.test("a list shows the rows that may be asked for one by one, and no other", async (t) => {
  for (const action of ACTIONS)
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
    for (const action of ACTIONS)
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
    "this user has no bucket yet",
  ]);
});

t.test("what was allowed names its policy where the log asks for it", async (t) => {
  for (const action of ["audit.search", "audit.read"] as const) {
    t.match(ask(keyOf(KEY_SCOPES, true), action, "rows"), { rows: "all", policies: ["audit-all"] });
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
  });
});

t.test("roles are those of the realm", async (t) => {
  const realm = JSON.parse(
    readFileSync(join(import.meta.dirname, "..", "..", "..", "policies", "realm.json"), "utf8"),
  ) as {
    roles: { name: string }[];
  };
  t.same(
    new Set([...APPLIANCE_ROLES, ...PROJECT_ROLES]),
    new Set(realm.roles.map(({ name }) => name)),
  );
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
      fc.property(fc.array(role), fc.constantFrom(...ACTIONS), (grants, action) => {
        const attributes: readonly string[] = RESOURCES[POLICY[action].on];
        const verdict = ask(sessionOf(...grants), action, strange);
        return verdict.effect === "deny" || !attributes.includes("projectId");
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
