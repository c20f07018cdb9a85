/** Flips every bit of a trust policy, and judges the export that it vouches for by each. */
import { type Report, verify } from "@resontech/verifier/judge";
import { flipped } from "./flipped.ts";
import { rememberingPlatform } from "./remembering-platform.ts";

export type PolicyTally = {
  flipped: number;
  caught: number;
  /**
   * Not caught, and not to be: a whole policy that asks for fewer of the witnesses, all of whom had countersigned. What a policy
   * asks for no log can say; its SHA-256, which the report tells and the printed checkpoint bears, is then another one.
   */
  fewerAskedFor: string[];
  /** The first few that should have been caught. */
  missed: string[];
};

const MAX_MISSED = 5;

/** Caught: the policy is refused, or a verdict that passed by it does so no more. */
export async function flipPolicy(tar: Uint8Array, policy: Uint8Array): Promise<PolicyTally> {
  const platform = rememberingPlatform();
  const honest = await verify({ bundle: flipped(tar, null), policy, platform });
  const tally: PolicyTally = {
    flipped: policy.length * 8,
    caught: 0,
    fewerAskedFor: [],
    missed: [],
  };
  for (let bit = 0; bit < tally.flipped; bit++) {
    const changed = Uint8Array.from(policy);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    const report = await verify({ bundle: flipped(tar, null), policy: changed, platform });
    const fewer = fewerAskedFor(policy, changed);
    if (isCaught(report, honest)) tally.caught += 1;
    else if (fewer !== null && report.policySha256 !== honest.policySha256)
      tally.fewerAskedFor.push(fewer);
    else if (tally.missed.length < MAX_MISSED) tally.missed.push(`byte ${bit >> 3} bit ${bit & 7}`);
  }
  return tally;
}

function isCaught({ refused, verdicts }: Report, honest: Report): boolean {
  const lost = (["SIGNATURE", "WITNESSED"] as const).some(
    (name) => honest.verdicts[name].verdict === "PASS" && verdicts[name].verdict !== "PASS",
  );
  return refused !== null || lost;
}

/** The group's line before and after, where its number alone has changed, to a smaller one. */
function fewerAskedFor(policy: Uint8Array, changed: Uint8Array): string | null {
  const [before, after] = [groupOf(policy), groupOf(changed)];
  if (before === null || after === null) return null;
  const isSame = after.name === before.name && after.members === before.members;
  return isSame && after.asked < before.asked ? `${before.line} → ${after.line}` : null;
}

function groupOf(
  policy: Uint8Array,
): { line: string; name: string; asked: number; members: string } | null {
  const found = /^group (\S+) ([1-9]) (.+)$/m.exec(Buffer.from(policy).toString("latin1"));
  if (found === null) return null;
  const [line, name = "", asked, members = ""] = found;
  return { line, name, asked: Number(asked), members };
}
