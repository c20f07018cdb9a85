/** What stops the start: each broken set is the real one with one thing changed. */
import { join } from "node:path";
import t from "tap";
import {
  digestOf,
  type PolicyFiles,
  policyFilesOf,
  PolicySetInvalid,
  readPolicyFiles,
} from "../../src/authorization/policy-files.ts";
import { JUDGED_AT_BUILD } from "../../build/judged-policies.ts";
import type { JudgedPolicies } from "../../src/authorization/judge-policies.ts";
import { PolicySet } from "../../src/authorization/policy-set.ts";
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import { type Action, ACTIONS } from "../../src/authorization/actions.ts";
import { cedarPrincipalOf } from "../../src/authorization/cedar-principal.ts";
import type { Caller } from "../../src/authorization/caller.ts";
import { decideBy } from "../../src/authorization/decide.ts";
import { inProject, keyOf, onAppliance } from "./callers.ts";
import { signedIn } from "./cells.ts";

const FOLDER = join(import.meta.dirname, "..", "..", "..", "..", "policies", "cedar");
const files = readPolicyFiles(FOLDER);

/** The real files with one text replaced; a text that is not there is a mistake of the test. */
function changed(name: string, from: string, to: string): PolicyFiles {
  const text = files.get(name)!;
  t.ok(text.includes(from), `${name} has ${from}`);
  return new Map([...files, [name, text.replace(from, to)]]);
}
const added = (text: string): PolicyFiles => new Map([...files, ["zz.cedar", text]]);
const refused = (what: string, set: PolicyFiles, message: RegExp) =>
  t.throws(
    () => PolicySet.load(set),
    { name: "PolicySetInvalid", code: "policy_set_invalid", message },
    what,
  );

t.test("the set of the release is whole", async (t) => {
  const set = PolicySet.load(files);
  t.match(set.sha256, /^[0-9a-f]{64}$/);
  t.ok(set.policies.length > 60);
});

t.test("a set of the release before loads, and decides as it did", async (t) => {
  const older = PolicySet.load(readPolicyFiles(join(import.meta.dirname, "older-policies")));
  const verdict = (caller: Caller, action: Action, row: "rows" | "every" = "rows") =>
    decideBy(older, cedarPrincipalOf(caller, {}), action, row).effect;
  t.equal(verdict(keyOf(KEY_SCOPES, "platform-admin"), "node.list"), "allow", "by the attribute");
  t.equal(verdict(keyOf(), "node.list"), "deny");
  t.equal(verdict(onAppliance("platform-admin"), "people.read"), "allow");
  const lead = signedIn(inProject("project-lead"), 1);
  t.equal(verdict(lead, "membership.end"), "allow", "as it decides about members");
  t.equal(verdict(signedIn(onAppliance("security-officer"), 1), "membership.end"), "deny");
  t.equal(verdict(lead, "service-account.adopt"), "allow");
  t.equal(verdict({ kind: "operator", person: null }, "membership.end", "every"), "deny");
  t.equal(verdict(onAppliance("platform-admin"), "person.data"), "deny", "to nobody");
  t.equal(verdict(lead, "person.data"), "deny");
});

t.test("any change makes another set, and the order of files none", async (t) => {
  t.not(digestOf(changed("jobs.cedar", "// Jobs", "// jobs")), digestOf(files));
  t.equal(digestOf(policyFilesOf([...files].reverse())), digestOf(files));
});

t.test("what was judged at build holds for the very files, and for no others", async (t) => {
  const known = JSON.parse(JSON.stringify(JUDGED_AT_BUILD)) as JudgedPolicies;
  const [own, built] = [PolicySet.load(files, null), PolicySet.load(files, known)];
  t.equal(built.sha256, own.sha256);
  t.same(built.policies, own.policies);
  for (const action of Object.keys(ACTIONS) as Action[]) {
    t.equal(built.scopeOf(action), own.scopeOf(action), action);
    for (const caller of [inProject("project-lead"), onAppliance("platform-admin")]) {
      const of = (set: PolicySet) =>
        decideBy(set, cedarPrincipalOf(signedIn(caller, 1), {}), action, "rows");
      t.same(of(built), of(own), action);
    }
  }
  const other = changed("jobs.cedar", "// Jobs", "// jobs");
  t.equal(PolicySet.load(other, known).sha256, digestOf(other));
  t.throws(() => PolicySet.load(added("permit (principal,"), known), {
    code: "policy_set_invalid",
  });
  const without: JudgedPolicies = { ...known, policies: known.policies.slice(1) };
  t.equal(
    PolicySet.load(other, without).policies.length,
    own.policies.length,
    "of other files nothing is taken",
  );
});

t.test("a set that is broken, or that leaves something open, is refused", async () => {
  refused("no syntax", added("permit (principal,"), /^zz\.cedar: /);
  refused("no id", added("permit (principal, action, resource);"), /needs @id/);
  refused(
    "an id twice",
    added('@id("job-of-lead") permit (principal, action, resource);'),
    /taken by a policy of jobs\.cedar/,
  );
  refused(
    "a template",
    added('@id("a") permit (principal == ?principal, action, resource);'),
    /templates/,
  );
  refused(
    "an unknown action",
    added('@id("a") permit (principal, action == Action::"job.fly", resource);'),
    /job\.fly/,
  );
  refused(
    "an unknown role",
    changed("nodes.cedar", 'Role::"platform-admin"', 'Role::"admin"'),
    /admin/,
  );
  refused(
    "an attribute that a row lacks",
    added(
      '@id("a") permit (principal, action == Action::"bucket.read", resource) when { resource.project == principal };',
    ),
    /a: /,
  );
  refused(
    "a condition that can't be true",
    added('@id("a") permit (principal is Node, action == Action::"job.read", resource);'),
    /a: /,
  );
  refused(
    "somebody by name",
    added('@id("a") permit (principal == User::"u1", action == Action::"job.read", resource);'),
    /names User::"u1"/,
  );
  refused(
    "somebody by name in a condition",
    added(
      '@id("a") permit (principal is User, action == Action::"job.read", resource) when { resource.project == Project::"p1" };',
    ),
    /names Project::"p1"/,
  );
  refused(
    "a refusal without a code",
    changed("duties.cedar", '@code("step_up_required")', ""),
    /step-up refuses, so it needs @code/,
  );
  refused(
    "with a code of another error",
    changed("duties.cedar", '@code("step_up_required")', '@code("not_found")'),
    /needs @code/,
  );
  refused(
    "without words",
    changed("duties.cedar", '@message("nobody decides a request of their own")', ""),
    /needs @message/,
  );
  refused(
    "that no log knows",
    changed("duties.cedar", '@id("step-up")', '@id("step-over")'),
    /the audit log knows no policy/,
  );
  refused(
    "a permit with a code",
    changed("jobs.cedar", '@id("job-of-lead")', '@id("job-of-lead") @code("not_found")'),
    /permits, so it can't/,
  );
  refused(
    "an action without a permit",
    changed("agents.cedar", 'action == Action::"member.act"', 'action == Action::"agent.tail"'),
    /member\.act|member-of-node/,
  );
  refused(
    "an action that the schema lacks",
    changed("schema.cedarschema", 'action "member.act"', 'action "member.acts"'),
    /has no action member\.act$/,
  );
  refused(
    "an action that nobody asks for",
    changed("schema.cedarschema", 'action "member.act"', 'action "member.act", "member.fly"'),
    /member\.fly, which nobody asks for/,
  );
  refused(
    "an action on another kind of row",
    changed(
      "schema.cedarschema",
      "principal: Node, resource: Member",
      "principal: Node, resource: Node",
    ),
    /member\.act is done to Member/,
  );
});

t.test("an action whose only rule is a refusal, or none, has no rule", async () => {
  const text = files.get("agents.cedar")!;
  const at = text.indexOf('@id("member-of-node")');
  refused(
    "none",
    new Map([...files, ["agents.cedar", text.slice(0, at)]]),
    /no policy permits anybody member\.act/,
  );
});

t.test("a folder holds policies and nothing else", async (t) => {
  const real = Object.fromEntries(files);
  const read = (content: Record<string, string | Record<string, string>>) => () =>
    readPolicyFiles(t.testdir(content));
  t.doesNotThrow(read(real));
  t.throws(read({ "a.cedar": "" }), { code: "policy_set_invalid", message: /has no schema/ });
  t.throws(read({ ...real, "README.md": "" }), { message: /README\.md: is no policy file/ });
  t.throws(read({ ...real, "a.cedar": {} }), PolicySetInvalid);
  t.throws(read({ ...real, "a.cedar": "x".repeat(1024 * 1024) }), {
    message: /more than 1048576 bytes/,
  });
});
