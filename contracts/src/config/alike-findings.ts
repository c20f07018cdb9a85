import type { ToldFinding } from "./told-finding.ts";

/** Of one code; `first` are those that are told at once, `more` the rest. */
export type AlikeFindings<F extends Pick<ToldFinding, "code">> = {
  code: string;
  first: readonly F[];
  more: readonly F[];
};

/** Of a thousand devices that are unwell in one way each says the same: how many are told before the rest is counted. */
const TOLD_OF_A_CODE = 3;

/** Groups findings by code, in the order in which each code came first. Pure. */
export function alikeFindings<F extends Pick<ToldFinding, "code">>(
  findings: readonly F[],
): AlikeFindings<F>[] {
  return [...Map.groupBy(findings, ({ code }) => code)].map(([code, all]) => ({
    code,
    first: all.slice(0, TOLD_OF_A_CODE),
    more: all.slice(TOLD_OF_A_CODE),
  }));
}
