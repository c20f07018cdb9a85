/** Real questions, noted as they are decided, and a proposed set that is the real one with a rule changed. */
import { join } from "node:path";
import t from "tap";
import type { Action } from "../../src/authorization/actions.ts";
import { cedarPrincipalOf } from "../../src/authorization/cedar-principal.ts";
import type { Caller } from "../../src/authorization/caller.ts";
import { readPolicyFiles } from "../../src/authorization/policy-files.ts";
import { PolicySet } from "../../src/authorization/policy-set.ts";
import { type AskedDecision, RecentDecisions } from "../../src/authorization/recent-decisions.ts";
import { changedDecisions } from "../../src/authorization/try-policies.ts";
import type { RowOwner } from "../../src/db/row-filter.ts";
import { inProject, keyOf, onAppliance, OTHERS, PEOPLE } from "./callers.ts";
import { ROWS, signedIn } from "./cells.ts";

const NOW = Date.now();
const files = readPolicyFiles(
  join(import.meta.dirname, "..", "..", "..", "..", "policies", "cedar"),
);
const inForce = PolicySet.load(files);
function proposed(name: string, from: string, to: string): PolicySet {
  const text = files.get(name)!;
  t.ok(text.includes(from), `${name} has ${from}`);
  return PolicySet.load(new Map([...files, [name, text.replace(from, to)]]));
}

const asked: [Caller, Action, "rows" | "every" | RowOwner | null][] = [
  [keyOf(), "job.read", ROWS.mine],
  [keyOf(), "job.read", ROWS.projects],
  [keyOf(["jobs:read"]), "job.list", "rows"],
  [inProject("researcher"), "job.list", "rows"],
  [inProject("researcher"), "job.read", ROWS.projects],
  [inProject("viewer"), "job.read", ROWS.mine],
  [signedIn(inProject("researcher"), 7), "key.mint", "rows"],
  [signedIn(onAppliance("security-officer"), 1), "role.decide", "rows"],
  ...OTHERS.map(([, caller]) => [caller, "agent.beat", ROWS.mine] as [Caller, Action, RowOwner]),
  ...PEOPLE.map(([, caller]) => [caller, "session.end", null] as [Caller, Action, null]),
];
const recent = new RecentDecisions();
for (const [caller, action, row] of asked)
  recent.note(cedarPrincipalOf(caller, { now: NOW }), action, row);
const seen = [...recent.take()].map(([question, times]) => ({
  asked: JSON.parse(question) as AskedDecision,
  ...{ times, lastAt: NOW },
}));

t.test("the same policies change nothing, nor do other words of a comment", async (t) => {
  t.ok(seen.length > 15);
  t.same(changedDecisions(inForce, inForce, seen), []);
  t.same(changedDecisions(inForce, proposed("jobs.cedar", "// Jobs", "// jobs"), seen), []);
});

t.test("what would change is told: who, what, and how it was and would be", async (t) => {
  const wider = proposed(
    "jobs.cedar",
    "resource.owner == principal && principal in",
    "principal in",
  );
  t.match(changedDecisions(inForce, wider, seen), [
    {
      ...{ who: /^researcher; level 1/, action: "job.list", row: "list", times: 1 },
      ...{ before: "own in a project as researcher", after: "all in a project as researcher" },
    },
    {
      ...{ action: "job.read", row: "another's row in a project as researcher" },
      ...{ before: "not_found", after: "all in a project as researcher" },
    },
  ]);
  const shorter = proposed("duties.cedar", "minutesAgo <= 5", "minutesAgo <= 60");
  t.match(changedDecisions(inForce, shorter, seen), [
    {
      ...{ who: "researcher; level 2, signed in at most 60 min ago", action: "key.mint" },
      ...{ before: "step_up_required (step-up)", after: "all in a project as researcher" },
    },
  ]);
  const alone = proposed("duties.cedar", "resource.requester == principal && ", "");
  t.match(changedDecisions(inForce, alone, seen), [
    { action: "role.decide", before: "others'", after: "own_request (four-eyes)" },
  ]);
});

t.test("a rule that no list can obey is found", async (t) => {
  const set = PolicySet.load(
    new Map([
      ...files,
      [
        "zz.cedar",
        '@id("not-in-own-projects") permit (principal is User, action == Action::"job.list", resource is Job) unless { principal in resource.project.researchers };',
      ],
    ]),
  );
  t.match(
    changedDecisions(inForce, set, seen).filter(({ who }) => who.startsWith("researcher")),
    [{ action: "job.list", after: /^fails: the policies allow rows of any project but some/ }],
  );
});

t.test("a rule by the clock is asked at the time of the decision", async (t) => {
  const by = (hours: string) =>
    proposed(
      "audit.cedar",
      '@id("audit-all")',
      `@id("job-by-day") permit (principal is User, action == Action::"job.read", resource is Job) when { principal in resource.project.viewers && context.now.toTime() ${hours} };\n@id("audit-all")`,
    );
  const noon = seen.map((one) => ({ ...one, lastAt: Date.parse("2026-11-26T12:00:00Z") }));
  t.equal(changedDecisions(inForce, by('< duration("13h")'), noon).length, 1);
  t.equal(changedDecisions(inForce, by('< duration("11h")'), noon).length, 0);
});
