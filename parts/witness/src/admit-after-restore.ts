/**
 * A log that was put back to an older state goes on in a new shard, which the old one could not announce. Its keys come from the policy that people hold
 * in their hands, as at the ceremony; and its first entry must admit the loss of everything that this witness has seen, of the old shard and of those
 * that had followed it, so nobody gets rid of entries unnoticed by calling it a restore. From then on nothing of them is cosigned.
 */
import { hasKeys, isSignedBy, keysByOrigin, parsedPolicy, readBounded, SHARD } from "./admit.ts";
import { inOrder, slugOf } from "@resontech/audit/format/shard/shard-plan";
import { WitnessError } from "./errors.ts";
import type { LogState, LogStates } from "./log-states.ts";
import { holdsLeaf, parseTlogProof } from "./tlog-proof.ts";

export type AdmittedRestore = {
  origin: string;
  follows: string;
  /** How far the old shard goes on in the new one's eyes. */
  prevSize: number;
  /** Of each shard that ends: how far anybody had seen it as the new one says, and this witness. */
  losses: { origin: string; seenSize: number; witnessSize: number }[];
};

/**
 * The caller is the only process that works on these states: what was cosigned between the look at the old shard and its end would stand beside the
 * new one, its loss unsaid.
 * @param despiteSmallerLoss a person has looked at both sizes and takes it all the same. @throws WitnessError
 */
export async function admitAfterRestore(
  states: LogStates,
  policyFile: string,
  proofFile: string,
  despiteSmallerLoss: boolean,
): Promise<AdmittedRestore> {
  const proof = parseTlogProof((await readBounded(proofFile)).toString("utf8"));
  if (proof === null)
    throw new WitnessError("proof_malformed", `${proofFile} is no tlog-proof with its leaf`);
  const { origin } = proof.checkpoint;
  const keys = keysByOrigin(parsedPolicy(await readBounded(policyFile))).get(origin);
  if (keys === undefined)
    throw new WitnessError("origin_unknown", `the policy names no key of ${origin}`);
  if (!isSignedBy(proof.checkpoint, keys))
    throw new WitnessError("not_signed", "the log did not sign this checkpoint");
  if (proof.index !== 0 || !holdsLeaf(proof))
    throw new WitnessError("not_included", "the leaf is not the first one of this tree");
  const { prevOrigin, prevSize, admitted } = restoreOf(proof.extra, origin);
  const all = await states.all();
  const ended = all.filter((one) => isEndedBy(one, origin, prevOrigin));
  if (ended.length === 0)
    throw new WitnessError("origin_unknown", `${prevOrigin} is no log of this witness`);
  const names = new Set([origin, ...ended.map((one) => one.origin)]);
  const other = ended.find(({ followedBy }) => followedBy !== null && !names.has(followedBy));
  if (other !== undefined)
    throw new WitnessError(
      "already_followed",
      `${other.origin} is followed by ${other.followedBy}`,
    );
  const unsaid = ended.find((one) => !isAdmitted(one, admitted.get(one.origin)));
  if (unsaid !== undefined && !despiteSmallerLoss)
    throw new WitnessError(
      "loss_understated",
      `this witness has seen ${unsaid.size} entries of ${unsaid.origin}, and the new shard admits ${admitted.get(unsaid.origin)?.size ?? 0}: what lies between would be lost unsaid`,
    );
  const known = all.find((one) => one.origin === origin);
  if (known !== undefined && !hasKeys(known, keys))
    throw new WitnessError("keys_differ", `${origin} is known with other keys`);
  // The old ones first: never are two shards of one log open here.
  for (const one of ended)
    if (one.followedBy === null) await states.replace({ ...one, followedBy: origin });
  if (known === undefined) await states.add(origin, keys);
  const losses = ended.map((one) => ({
    ...{ origin: one.origin, seenSize: admitted.get(one.origin)?.size ?? 0, witnessSize: one.size },
  }));
  return { origin, follows: prevOrigin, prevSize, losses };
}

/** The shard that was put back, and every one of this log that came after it; not the next one that was admitted ahead and never shown. */
function isEndedBy(one: LogState, origin: string, prevOrigin: string): boolean {
  if (one.origin === prevOrigin) return true;
  if (SHARD.exec(one.origin)?.[1] !== SHARD.exec(origin)?.[1] || one.origin === origin)
    return false;
  const slug = slugOf(one.origin);
  return (
    inOrder(slug, slugOf(prevOrigin)) > 0 && (one.size > 0 || inOrder(slug, slugOf(origin)) < 0)
  );
}

function isAdmitted({ size, root }: LogState, said: Admitted | undefined): boolean {
  if (said === undefined) return size === 0;
  return (
    said.size > size ||
    (said.size === size && (root === null || said.root === root.toString("hex")))
  );
}

/** What is said to have been seen of a shard of which entries are lost. */
type Admitted = { size: number; root: string | null };

/** What the first leaf of a shard after a restore says of those before. */
function restoreOf(
  leaf: Buffer,
  origin: string,
): { prevOrigin: string; prevSize: number; admitted: Map<string, Admitted> } {
  const wrong = new WitnessError(
    "leaf_wrong",
    "the leaf is no audit.shard.open after a restore of this log",
  );
  let event: Record<string, unknown>;
  try {
    event = JSON.parse(leaf.toString("utf8")) as Record<string, unknown>;
  } catch {
    throw wrong;
  }
  const { type, prod, detail } = event;
  const said = objectOf(detail);
  const { reason, prev_origin: prevOrigin, prev_size: prevSize } = said;
  if (
    type !== "audit.shard.open" ||
    prod !== "auditd" ||
    reason !== "restore" ||
    typeof prevOrigin !== "string"
  )
    throw wrong;
  const appliance = SHARD.exec(origin)?.[1];
  const isSameLog =
    appliance !== undefined && SHARD.exec(prevOrigin)?.[1] === appliance && prevOrigin !== origin;
  if (!isSameLog || !Number.isSafeInteger(prevSize)) throw wrong;
  const lost = (Array.isArray(said["lost"]) ? said["lost"] : []).map(objectOf);
  const admitted = new Map<string, Admitted>();
  for (const [name, size, root] of [
    ...lost.map((one) => [one["origin"], one["size"], one["root"]]),
    [prevOrigin, said["seen_size"], said["seen_root"]],
  ]) {
    if (typeof name !== "string" || !Number.isSafeInteger(size)) throw wrong;
    admitted.set(name, { size: size as number, root: typeof root === "string" ? root : null });
  }
  return { prevOrigin, prevSize: prevSize as number, admitted };
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
