/** What is to be done about the node's own certificate. Pure. */
import { RENEWAL_GRACE_MS } from "@resontech/contracts/agent-protocol";

/** `due`: the last third of its life; `ended`: it still admits the node to the next one; `lost`: it admits to nothing. */
export type CertificateLife = "good" | "due" | "ended" | "lost";

/** @param span its validity @param now all in Unix milliseconds */
export function evaluateLife(
  { from, to }: { from: number; to: number },
  now: number,
): CertificateLife {
  if (now - to > RENEWAL_GRACE_MS) return "lost";
  if (now >= to) return "ended";
  return now > from + ((to - from) * 2) / 3 ? "due" : "good";
}
