/** Policies read, shown and tried: the release's program judges them, beside the coordinator that goes on deciding. */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import type { DecisionFacts } from "@resontech/contracts/operator-appliance";
import type { AskOperator, OperatorAnswer } from "@resontech/contracts/operator-routes";
import type { Layout } from "@resontech/frame/layout";

/** Far more than any set has; the program that judges says so more exactly. */
const MAX_BYTES = 4 * 1024 * 1024;

export type ShownPolicies = {
  folder: string;
  /** Of the files; the coordinator decides by them when its own is the same. */
  sha256: string;
  policies: { id: string; file: string; effect: "permit" | "forbid" }[];
};
/** @property lastAt Unix milliseconds */
type Change = {
  who: string;
  action: string;
  row: string;
  times: number;
  lastAt: number;
  before: string;
  after: string;
};
export type PolicyTrial = {
  inForce: string;
  proposed: string;
  /** Distinct decisions of the last week. */
  asked: number;
  changed: Change[];
};

/** A set of policies that does not hold together, or that can't be tried. `code` and `hint` as the coordinator's. */
class PolicyTrialFailed extends Error {
  override readonly name = "PolicyTrialFailed";
  readonly code: string;
  readonly hint: string;

  constructor({ code, message, hint }: { code: string; message: string; hint: string }) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** The policies of the release. @throws PolicyTrialFailed */
export async function showPolicies(layout: Layout): Promise<ShownPolicies> {
  const folder = inForceFolder(layout);
  const shown = await judge<Omit<ShownPolicies, "folder">>(layout, { show: filesOf(folder) }, []);
  return { folder, ...shown };
}

/**
 * What the policies in `folder` would have decided otherwise than those in force.
 * @throws PolicyTrialFailed, also when the coordinator decides by other files than the release's
 */
export async function tryPolicies(
  layout: Layout,
  ask: AskOperator,
  folder: string,
): Promise<PolicyTrial> {
  const proposed = filesOf(resolve(folder));
  const { policySet, decisions } = await decisionsOf(ask);
  const request = { inForce: filesOf(inForceFolder(layout)), proposed };
  const trial = await judge<PolicyTrial>(layout, request, decisions);
  if (trial.inForce !== policySet)
    throw new PolicyTrialFailed({
      code: "policy_set_other",
      message: "the coordinator decides by other policies than the release on disk holds",
      hint: "Run: appliance restart coordinator",
    });
  return trial;
}

async function decisionsOf(
  ask: AskOperator,
): Promise<{ policySet: string; decisions: DecisionFacts[] }> {
  const decisions: DecisionFacts[] = [];
  let after: string | null = null;
  for (;;) {
    const page: OperatorAnswer<"policy-decisions"> = await ask(
      "policy-decisions",
      after === null ? {} : { after },
    );
    decisions.push(...page.decisions);
    if (page.next === null) return { policySet: page.policySet, decisions };
    after = page.next;
  }
}

function inForceFolder(layout: Layout): string {
  return layout.release("app", "policies", "cedar");
}

function filesOf(folder: string): Record<string, string> {
  const refuse = (message: string): never => {
    throw new PolicyTrialFailed({
      ...{ code: "policy_set_invalid", message },
      hint: "Name a folder with schema.cedarschema and *.cedar, such as a copy of the release's app/policies/cedar.",
    });
  };
  let names: string[] = [];
  try {
    names = readdirSync(folder);
  } catch (error) {
    return refuse(`${folder} can't be read: ${(error as Error).message}`);
  }
  let bytes = 0;
  return Object.fromEntries(
    names.map((name) => {
      const file = statSync(join(folder, name));
      bytes += file.size;
      if (!file.isFile() || bytes > MAX_BYTES)
        return refuse(`${join(folder, name)} is no file of policies, or too large`);
      return [name, readFileSync(join(folder, name), "utf8")];
    }),
  );
}

/** Nothing of a policy stands in argv: the program reads it all from its standard input. */
async function judge<T>(
  layout: Layout,
  request: object,
  decisions: readonly DecisionFacts[],
): Promise<T> {
  const child = spawn(layout.release("bin", "node"), [layout.release("app", "policy-trial.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: "/",
  });
  const ended = new Promise<number | null>((done, fail) => {
    child.once("error", fail);
    child.once("close", done);
  });
  // One that ends early says why itself; what it did not read is of no use then.
  child.stdin.on("error", () => {});
  child.stdin.end([request, ...decisions].map((line) => `${JSON.stringify(line)}\n`).join(""));
  const [answer, code] = await Promise.all([text(child.stdout), ended]);
  if (code !== 0) throw new Error(`the program that judges policies ended with ${code}`);
  const judged = JSON.parse(answer) as T | { error: PolicyTrialFailed };
  if (typeof judged === "object" && judged !== null && "error" in judged)
    throw new PolicyTrialFailed(judged.error);
  return judged;
}
