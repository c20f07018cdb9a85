/** The real program that judges policies, in a folder laid out as a release; decisions as the coordinator tells them. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DecisionFacts } from "@resontech/contracts/operator-appliance";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import t, { type Test } from "tap";
import { showPolicies, tryPolicies } from "../../src/commands/policy-trial.ts";
import { Layout } from "@resontech/frame/layout";
import { shippedProgram } from "@resontech/house/shipped-program";

const REPOSITORY = join(import.meta.dirname, "..", "..", "..");
const PROGRAM = shippedProgram("policy-trial");

function release(t: Test): { layout: Layout; next: string } {
  const root = mkdtempSync(join(tmpdir(), "rta-"));
  t.teardown(() => rmSync(root, { recursive: true }));
  const layout = new Layout(root, "test");
  mkdirSync(layout.release("bin"), { recursive: true });
  mkdirSync(layout.release("app"), { recursive: true });
  symlinkSync(process.execPath, layout.release("bin", "node"));
  writeFileSync(layout.release("app", "policy-trial.mjs"), `import ${JSON.stringify(PROGRAM)};\n`);
  const cedar = join(REPOSITORY, "policies", "cedar");
  cpSync(cedar, layout.release("app", "policies", "cedar"), { recursive: true });
  const next = join(root, "next");
  cpSync(cedar, next, { recursive: true });
  return { layout, next };
}

const LISTED: DecisionFacts = {
  question: JSON.stringify({
    ...{ action: "job.list", caller: { type: "User", roles: ["researcher"] } },
    ...{ places: [["researcher"]], asked: "rows" },
    moment: {
      ...{ zone: "users", singlePerson: false, approval: null, proof: null },
      signIn: { level: 1, minutesAgo: 60 },
    },
  }),
  ...{ times: 12, lastAt: 1_790_000_000_000 },
};

/** Two pages. */
const coordinator = (policySet: string): AskOperator =>
  (async (_: "policy-decisions", request: { after?: string }) => ({
    policySet,
    ...(request.after === undefined
      ? { decisions: [], next: "page 2" }
      : { decisions: [LISTED], next: null }),
  })) as unknown as AskOperator;

t.test("the policies of the release are shown with their digest", async (t) => {
  const { layout } = release(t);
  const shown = await showPolicies(layout);
  t.match(shown.sha256, /^[0-9a-f]{64}$/);
  t.ok(shown.policies.some(({ id, file }) => id === "step-up" && file === "duties.cedar"));
});

t.test("a proposed set is tried against what was decided", async (t) => {
  const { layout, next } = release(t);
  const { sha256 } = await showPolicies(layout);
  const same = await tryPolicies(layout, coordinator(sha256), next);
  t.same(same, { inForce: sha256, proposed: sha256, asked: 1, changed: [] });
  const file = join(next, "jobs.cedar");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("resource.owner == principal && principal in", "principal in"));
  const wider = await tryPolicies(layout, coordinator(sha256), next);
  t.not(wider.proposed, sha256);
  t.match(wider.changed, [
    {
      ...{ action: "job.list", row: "list", times: 12, before: "own in a project as researcher" },
      after: "all in a project as researcher",
    },
  ]);
});

t.test("what can't be tried says why", async (t) => {
  const { layout, next } = release(t);
  const { sha256 } = await showPolicies(layout);
  const tried = (folder: string, digest = sha256) =>
    tryPolicies(layout, coordinator(digest), folder);
  await t.rejects(tried(join(next, "nothing")), {
    code: "policy_set_invalid",
    message: /can't be read/,
  });
  await t.rejects(tried(next, "0".repeat(64)), { code: "policy_set_other", hint: /restart/ });
  writeFileSync(join(next, "people.cedar"), "permit (principal, action");
  await t.rejects(tried(next), { code: "policy_set_invalid", message: /^people\.cedar: / });
  writeFileSync(join(next, "notes.txt"), "");
  await t.rejects(tried(next), {
    code: "policy_set_invalid",
    message: /notes\.txt: is no policy file/,
  });
  mkdirSync(join(next, "folder"));
  await t.rejects(tried(next), { code: "policy_set_invalid", message: /folder is no file/ });
});
