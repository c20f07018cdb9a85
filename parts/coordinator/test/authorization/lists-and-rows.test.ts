/** Random callers, rows and moments: a list shows what may be asked for one by one, and both are what the policies say of the very caller and row. */
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import fc from "fast-check";
import t from "tap";
import { checkProperty } from "@resontech/house/check-property";
import { type Action, ACTIONS } from "../../src/authorization/actions.ts";
import type { Given } from "../../src/authorization/cedar-principal.ts";
import type { Caller, RoleGrant } from "../../src/authorization/caller.ts";
import {
  APPLIANCE_ROLES,
  NODE_PROOFS,
  PROJECT_ROLES,
  SERVICES,
  type Role,
} from "../../src/authorization/roles.ts";
import { isInFilter } from "../../src/db/row-filter.ts";
import { ask } from "./cells.ts";
import { isPermitted } from "./direct-cedar.ts";

const NOW = Date.parse("2026-11-26T12:00:00Z");
const userId = fc.constantFrom("u1", "u2", "u3");
const projectId = fc.constantFrom("p1", "p2", "p3", "p4");
const node = fc.constantFrom("n1", "n2");
const grant: fc.Arbitrary<RoleGrant> = fc.oneof(
  fc.constantFrom(...APPLIANCE_ROLES).map((role) => ({ role, projectId: null })),
  fc.record({ role: fc.constantFrom(...PROJECT_ROLES), projectId }),
);
const holds = fc.subarray<Role>([...APPLIANCE_ROLES, ...PROJECT_ROLES], { maxLength: 3 });
const caller: fc.Arbitrary<Caller> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant("key" as const), keyId: fc.constant("k1"), userId, projectId },
      role: fc.constantFrom(...PROJECT_ROLES),
      ...{ scopes: fc.subarray([...KEY_SCOPES]), holds },
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ kind: fc.constant("session" as const), sessionId: fc.constant("s1"), userId, projectId },
      ...{ grants: fc.array(grant, { maxLength: 4 }), holds },
      signIn: fc.record({
        acr: fc.constantFrom("0", "1", "2", "3", "gold"),
        at: fc.integer({ min: 0, max: 600 }).map((seconds) => NOW - seconds * 1000),
      }),
    }),
  },
  fc.record({ kind: fc.constant("service" as const), service: fc.constantFrom(...SERVICES) }),
  fc.record({ kind: fc.constant("node" as const), node, by: fc.constantFrom(...NODE_PROOFS) }),
  fc.constant<Caller>({ kind: "operator", person: null }),
);
const given: fc.Arbitrary<Given> = fc.record(
  {
    ...{ now: fc.constant(NOW), singlePerson: fc.boolean() },
    approval: fc.record({ approverId: userId }),
  },
  { requiredKeys: ["now"] },
);
const row = fc.record({ userId, projectId, node });
const action = fc.constantFrom(...(Object.keys(ACTIONS) as Action[]));

t.test("lists and rows can't differ, and neither differs from the policies", async (t) => {
  checkProperty(
    fc.property(
      caller,
      action,
      given,
      fc.array(row, { minLength: 1, maxLength: 6 }),
      (who, what, moment, rows) => {
        // Only people are approved and sign in.
        const known = who.kind === "session" ? moment : { ...moment, approval: undefined };
        const list = ask(who, what, "rows", known);
        return rows.every((one) => {
          const single = ask(who, what, one, known).effect === "allow";
          const listed = list.effect === "allow" && isInFilter(list.rows, one);
          return single === listed && single === isPermitted(who, what, one, known);
        });
      },
    ),
    1_500,
  );
  t.pass();
});
