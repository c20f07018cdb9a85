/**
 * A log that was put back to an older state goes on in a new shard, which the old one could not announce. Its keys come from the policy that people hold
 * in their hands, as at the ceremony; and its first entry must admit the loss of everything that this witness has seen, so nobody gets rid
 * of entries unnoticed by calling it a restore. From then on nothing of the old shard is cosigned.
 */
import { hasKeys, isSignedBy, keysByOrigin, parsedPolicy, readBounded, SHARD } from "./admit.ts";
import { WitnessError } from "./errors.ts";
import type { LogStates } from "./log-states.ts";
import { holdsLeaf, parseTlogProof } from "./tlog-proof.ts";

export type AdmittedRestore = {
  origin: string;
  follows: string;
  /** How far the old shard goes on in the new one's eyes, how far anybody had seen it as the new one says, and this witness. */
  prevSize: number;
  seenSize: number;
  witnessSize: number;
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
  if (proof === null) throw new WitnessError("proof_malformed", `${proofFile} is no tlog-proof with its leaf`);
  const { origin } = proof.checkpoint;
  const keys = keysByOrigin(parsedPolicy(await readBounded(policyFile))).get(origin);
  if (keys === undefined) throw new WitnessError("origin_unknown", `the policy names no key of ${origin}`);
  if (!isSignedBy(proof.checkpoint, keys)) throw new WitnessError("not_signed", "the log did not sign this checkpoint");
  if (proof.index !== 0 || !holdsLeaf(proof))
    throw new WitnessError("not_included", "the leaf is not the first one of this tree");
  const { prevOrigin, prevSize, seenSize, seenRoot } = restoreOf(proof.extra, origin);
  const old = await states.find(prevOrigin);
  if (old === null) throw new WitnessError("origin_unknown", `${prevOrigin} is no log of this witness`);
  if (old.followedBy !== null && old.followedBy !== origin)
    throw new WitnessError("already_followed", `${prevOrigin} is followed by ${old.followedBy}`);
  const isAdmitted =
    seenSize > old.size || (seenSize === old.size && (old.root === null || seenRoot === old.root.toString("hex")));
  if (!isAdmitted && !despiteSmallerLoss)
    throw new WitnessError(
      "loss_understated",
      `this witness has seen ${old.size} entries of ${prevOrigin}, and the new shard admits ${seenSize}: what lies between would be lost unsaid`,
    );
  const known = await states.find(origin);
  if (known !== null && !hasKeys(known, keys)) throw new WitnessError("keys_differ", `${origin} is known with other keys`);
  // The old one first: never are two shards of one log open here.
  await states.replace({ ...old, followedBy: origin });
  if (known === null) await states.add(origin, keys);
  return { origin, follows: prevOrigin, prevSize, seenSize, witnessSize: old.size };
}

/** What the first leaf of a shard after a restore says of the one before. */
function restoreOf(
  leaf: Buffer,
  origin: string,
): { prevOrigin: string; prevSize: number; seenSize: number; seenRoot: string | null } {
  const wrong = new WitnessError("leaf_wrong", "the leaf is no audit.shard.open after a restore of this log");
  let event: Record<string, unknown>;
  try {
    event = JSON.parse(leaf.toString("utf8")) as Record<string, unknown>;
  } catch {
    throw wrong;
  }
  const { type, prod, detail } = event;
  const said = (typeof detail === "object" && detail !== null ? detail : {}) as Record<string, unknown>;
  const { reason, prev_origin: prevOrigin, prev_size: prevSize, seen_size: seenSize, seen_root: seenRoot } = said;
  if (type !== "audit.shard.open" || prod !== "auditd" || reason !== "restore" || typeof prevOrigin !== "string") throw wrong;
  const appliance = SHARD.exec(origin)?.[1];
  const isSameLog = appliance !== undefined && SHARD.exec(prevOrigin)?.[1] === appliance && prevOrigin !== origin;
  if (!isSameLog || !Number.isSafeInteger(prevSize) || !Number.isSafeInteger(seenSize)) throw wrong;
  return {
    prevOrigin,
    prevSize: prevSize as number,
    seenSize: seenSize as number,
    seenRoot: typeof seenRoot === "string" ? seenRoot : null,
  };
}
