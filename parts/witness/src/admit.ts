/**
 * How a witness comes to know a log: at the ceremony from the policy that its people hold in their hands, and from then on only by the log's own
 * word under a checkpoint that this witness cosigned. Otherwise whoever has the appliance could begin a second history beside the first.
 */
import { readFile, stat } from "node:fs/promises";
import {
  type NoteKey,
  NoteKeyError,
  type NoteSigner,
  parseVerifierKey,
} from "@resontech/audit/format/note/note-key";
import { parsePolicy, PolicyError } from "@resontech/audit/format/note/policy";
import { verifiedLines } from "./add-checkpoint.ts";
import { isSupported } from "./cosigner.ts";
import { WitnessError } from "./errors.ts";
import type { LogState, LogStates } from "./log-states.ts";
import { holdsLeaf, parseTlogProof } from "./tlog-proof.ts";

/** A leaf has 16 KiB, a note 64, and the proof 63 lines. */
const MAX_FILE_BYTES = 262_144;
const MAX_LOG_KEYS = 4;
/** `<appliance>.audit.<customer>` of the shard `<appliance>.audit.<customer>/<YYYY>[-n]`. */
export const SHARD = /^([a-z0-9-]{1,63}\.audit\.[a-z0-9-]{1,63})\/[0-9]{4}(?:-[1-9][0-9]{0,3})?$/;

/** The logs of a policy; what is known with the same keys stays as it is. @throws WitnessError */
export async function admitFirst(states: LogStates, policyFile: string): Promise<string[]> {
  const logs = keysByOrigin(parsedPolicy(await readBounded(policyFile)));
  const known = await states.all();
  for (const [origin, keys] of logs) refuseSecondHistory(origin, keys, known);
  for (const [origin, keys] of logs)
    if (!known.some((log) => log.origin === origin)) await states.add(origin, keys);
  return [...logs.keys()];
}

/** The shard that `audit.shard.next` of a known one names. @throws WitnessError */
export async function admitNext(
  states: LogStates,
  signers: readonly NoteSigner[],
  proofFile: string,
): Promise<string> {
  const proof = parseTlogProof((await readBounded(proofFile)).toString("utf8"));
  if (proof === null)
    throw new WitnessError("proof_malformed", `${proofFile} is no tlog-proof with its leaf`);
  const { checkpoint, extra } = proof;
  const log = await states.find(checkpoint.origin);
  if (log === null)
    throw new WitnessError("origin_unknown", `${checkpoint.origin} is no log of this witness`);
  // Its keys may be with whoever put it back: what it named before is not what goes on.
  if (log.followedBy !== null)
    throw new WitnessError(
      "already_followed",
      `${checkpoint.origin} is followed by ${log.followedBy}`,
    );
  if (!isSignedBy(checkpoint, log.keys))
    throw new WitnessError("not_signed", "the log did not sign this checkpoint");
  if (!isSignedBy(checkpoint, signers))
    throw new WitnessError("not_cosigned", "this witness did not cosign this checkpoint");
  if (!holdsLeaf(proof))
    throw new WitnessError("not_included", "the leaf is not in the tree of this checkpoint");
  const { origin, keys } = nextShardIn(extra, checkpoint.origin);
  const known = await states.find(origin);
  if (known !== null && !hasKeys(known, keys))
    throw new WitnessError("keys_differ", `${origin} is known with other keys`);
  if (known === null) await states.add(origin, keys);
  return origin;
}

export function isSignedBy(
  checkpoint: Parameters<typeof verifiedLines>[0],
  keys: readonly NoteKey[],
): boolean {
  const supported = keys.filter(({ type }) => isSupported(type));
  return (verifiedLines(checkpoint, supported)?.length ?? 0) > 0;
}

/** What the leaf says of the next shard. It is of auditd alone: the log takes this type from nobody else. */
function nextShardIn(leaf: Buffer, origin: string): { origin: string; keys: NoteKey[] } {
  const wrong = new WitnessError("leaf_wrong", "the leaf is no audit.shard.next of this log");
  try {
    const { type, prod, detail } = JSON.parse(leaf.toString("utf8")) as Record<string, unknown>;
    const { origin: next, keys: listed } = detail as { origin: unknown; keys: unknown };
    if (
      type !== "audit.shard.next" ||
      prod !== "auditd" ||
      typeof next !== "string" ||
      !Array.isArray(listed)
    )
      throw wrong;
    const isSameLog =
      SHARD.exec(next)?.[1] !== undefined && SHARD.exec(next)?.[1] === SHARD.exec(origin)?.[1];
    const keys = listed.slice(0, MAX_LOG_KEYS + 1).map((key) => parseVerifierKey(String(key)));
    if (
      !isSameLog ||
      keys.length === 0 ||
      keys.length > MAX_LOG_KEYS ||
      keys.some(({ name }) => name !== next)
    )
      throw wrong;
    return { origin: next, keys };
  } catch (error) {
    throw error instanceof WitnessError ? error : wrong;
  }
}

/** @throws WitnessError for a log that is known with other keys, and for a new shard of a log that is known */
function refuseSecondHistory(
  origin: string,
  keys: readonly NoteKey[],
  known: readonly LogState[],
): void {
  const same = known.find((log) => log.origin === origin);
  if (same !== undefined && !hasKeys(same, keys))
    throw new WitnessError("keys_differ", `${origin} is known with other keys`);
  const prefix = SHARD.exec(origin)?.[1];
  const other = known.find((log) => prefix !== undefined && SHARD.exec(log.origin)?.[1] === prefix);
  if (same === undefined && other !== undefined)
    throw new WitnessError(
      "log_known",
      `${other.origin} is known; its next shard is admitted by a proof of audit.shard.next alone`,
    );
}

export function hasKeys({ keys }: LogState, others: readonly NoteKey[]): boolean {
  return (
    keys.length === others.length &&
    others.every((other) => keys.some((key) => key.publicKey.equals(other.publicKey)))
  );
}

export function keysByOrigin(keys: readonly NoteKey[]): Map<string, NoteKey[]> {
  const byOrigin = new Map<string, NoteKey[]>();
  for (const key of keys) byOrigin.set(key.name, [...(byOrigin.get(key.name) ?? []), key]);
  if (byOrigin.size === 0) throw new WitnessError("policy_without_log", "the policy names no log");
  return byOrigin;
}

/** The log keys of a policy. @throws WitnessError */
export function parsedPolicy(bytes: Buffer): readonly NoteKey[] {
  try {
    return parsePolicy(bytes).logs;
  } catch (error) {
    if (error instanceof PolicyError || error instanceof NoteKeyError)
      throw new WitnessError(error.code, error.message);
    throw error;
  }
}

export async function readBounded(path: string): Promise<Buffer> {
  const { size } = await stat(path).catch(() => {
    throw new WitnessError("file_missing", `${path} can't be read`);
  });
  if (size > MAX_FILE_BYTES)
    throw new WitnessError("file_too_long", `${path} is longer than ${MAX_FILE_BYTES} bytes`);
  return readFile(path);
}
