/**
 * Judges sets of policies beside the coordinator, which goes on deciding meanwhile. The `appliance` command starts it, with one line of JSON
 * on its standard input and, to try a set, a line for each decision that was seen; it answers one line of JSON.
 *
 *     { "show": FILES }                                 → { sha256, policies }
 *     { "inForce": FILES, "proposed": FILES } DECISION… → { inForce, proposed, asked, changed }
 *
 * FILES are texts by name. A set that does not hold together is answered as { error: { code, message, hint } }.
 */
import { text } from "node:stream/consumers";
import type { DecisionFacts } from "@resontech/contracts/operator-appliance";
import { policyFilesOf, PolicySetInvalid } from "../authorization/policy-files.ts";
import { PolicySet } from "../authorization/policy-set.ts";
import type { AskedDecision } from "../authorization/recent-decisions.ts";
import type { ProjectRole } from "../authorization/roles.ts";
import { changedDecisions, type SeenDecision } from "../authorization/try-policies.ts";

type Files = Record<string, string>;
type Request = { show: Files } | { inForce: Files; proposed: Files };

async function main(): Promise<object> {
  const [request, ...decisions] = (await text(process.stdin)).trimEnd().split("\n");
  const asked = JSON.parse(request ?? "") as Request;
  if ("show" in asked) {
    const { sha256, policies } = load(asked.show);
    return { sha256, policies };
  }
  const inForce = load(asked.inForce);
  const proposed = load(asked.proposed);
  return {
    ...{ inForce: inForce.sha256, proposed: proposed.sha256, asked: decisions.length },
    changed: changedDecisions(inForce, proposed, decisions.map(seen)),
  };
}

function load(files: Files): PolicySet {
  return PolicySet.load(policyFilesOf(Object.entries(files)));
}

function seen(line: string): SeenDecision {
  const { question, times, lastAt } = JSON.parse(line) as DecisionFacts;
  const asked = JSON.parse(question) as AskedDecision;
  const { caller } = asked;
  // The release before noted no role of keys: all of them were of projects that their users led.
  if (caller.type !== "PlatformKey") return { asked, times, lastAt };
  const role = (caller.role as ProjectRole | undefined) ?? "project-lead";
  return { asked: { ...asked, caller: { ...caller, role } }, times, lastAt };
}

let answer: object;
try {
  answer = await main();
} catch (error) {
  if (!(error instanceof PolicySetInvalid)) throw error;
  const { code, message, hint } = error;
  answer = { error: { code, message, hint } };
}
process.stdout.write(`${JSON.stringify(answer)}\n`);
