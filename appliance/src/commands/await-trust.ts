import { hash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { splitTrust } from "@resontech/contracts/door-authorities";
import type { AskOperator } from "@resontech/contracts/operator-routes";

const LIMIT_MS = 60_000;
const LOOK_MS = 1_000;

/** Nodes would fetch nothing more from doors that they do not trust. */
export class NodesLackTrustError extends Error {
  readonly code = "nodes_lack_ca";
  readonly hint =
    "look at these nodes; the same command goes on. --force leaves them out: each works again after it was joined anew";
}

/**
 * Waits until each node that lives has said that it trusts who vouches for the doors; the coordinator tells them with its next beats.
 *
 * @param trustPem as the coordinator reads it: the root first
 * @throws NodesLackTrustError
 */
export async function awaitTrust(
  ask: AskOperator,
  trustPem: string,
  {
    tell,
    isForced,
    limitMs = LIMIT_MS,
  }: { tell: (line: string) => void; isForced: boolean; limitMs?: number },
): Promise<void> {
  const wanted = hash("sha256", splitTrust(trustPem).doors);
  for (const from = Date.now(); ; await sleep(LOOK_MS)) {
    const lacking = await nodesThatLack(ask, wanted);
    if (lacking.length === 0) return;
    if (Date.now() - from < limitMs) continue;
    const names = lacking.join(", ");
    if (!isForced)
      throw new NodesLackTrustError(
        `${names} did not say within ${limitMs / 1_000} s that the authority is trusted there; nothing has changed in the doors`,
      );
    tell(`${names}: not told of the authority`);
    return;
  }
}

/** One that is dead hears nothing, and is told when it comes back: its first beat goes by NATS, which shows no certificate of the customer's. */
async function nodesThatLack(ask: AskOperator, wanted: string): Promise<string[]> {
  const { health } = await ask("status");
  return health.nodes
    .filter(({ state, trusts }) => state !== "DEAD" && trusts !== wanted)
    .map(({ node }) => node);
}
