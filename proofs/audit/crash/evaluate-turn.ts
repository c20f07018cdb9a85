/** What must hold where one shard follows another. Pure. */
import type { Leaf, ReadLog } from "./read-log.ts";

/** The older shard is closed once, with its last leaf; the younger one begins once, with a first leaf that follows that, and takes over what is open. */
export function brokenTurn(
  older: ReadLog,
  younger: ReadLog,
  before: readonly Leaf[],
  after: readonly Leaf[],
): string[] {
  const closes = before.filter(({ type }) => type === "audit.shard.close");
  const opens = after.filter(({ type }) => type === "audit.shard.open");
  const close = before.at(-1);
  const open = after[0];
  const follows = open?.detail ?? {};
  return [
    ...(closes.length === 1 &&
    close?.type === "audit.shard.close" &&
    close.detail?.["next_origin"] === younger.origin
      ? []
      : [
          `shard not closed: ${older.origin} has ${closes.length} closing leaves and ends with ${close?.type}`,
        ]),
    ...(opens.length === 1 && open?.type === "audit.shard.open"
      ? []
      : [
          `shard not opened: ${younger.origin} has ${opens.length} opening leaves and begins with ${open?.type}`,
        ]),
    ...(follows["prev_origin"] === older.origin &&
    follows["prev_size"] === older.size &&
    follows["prev_root"] === Buffer.from(older.root, "base64").toString("hex")
      ? []
      : [
          `shards apart: ${younger.origin} follows ${String(follows["prev_size"])} leaves, ${older.origin} has ${older.size}`,
        ]),
    ...brokenKeys(younger, before),
    ...brokenCarries(older, before, after),
  ];
}

/** Of a log that says which keys its next shard has, those that the policy does not list. */
export function unlistedNextKeys(leaves: readonly Leaf[], policyKeys: readonly string[]): string[] {
  return namedKeys(leaves)
    .filter((key) => !policyKeys.includes(key))
    .map((key) => `next key unlisted: the policy lacks ${key}`);
}

/** It is signed by the very keys that the older one named: a witness takes no others. */
function brokenKeys({ origin, signers }: ReadLog, before: readonly Leaf[]): string[] {
  const named = namedKeys(before);
  const isSame = named.length === signers.length && named.every((key) => signers.includes(key));
  return isSame
    ? []
    : [`other keys: ${origin} is signed by ${signers.join(", ")}, named were ${named.join(", ")}`];
}

/** `name+key id` of each key. */
function namedKeys(leaves: readonly Leaf[]): string[] {
  const keys = leaves.findLast(({ type }) => type === "audit.shard.next")?.detail?.["keys"];
  return ((keys ?? []) as string[]).map((key) => key.split("+", 2).join("+"));
}

function brokenCarries(older: ReadLog, before: readonly Leaf[], after: readonly Leaf[]): string[] {
  const open = openOperations(older, before);
  const carried = after.filter(({ type }) => type === "audit.op.carried");
  const lost = [...open].filter(
    ([op, request]) => !carried.some((leaf) => leaf.op === op && isRequest(leaf, request)),
  );
  const strange = carried.filter(({ op }) => !open.has(op));
  return [
    ...lost.map(([op]) => `operation lost: ${op} is not carried over`),
    ...strange.map(({ op }) => `operation reopened: ${op} is carried over`),
    ...(new Set(carried.map(({ op }) => op)).size === carried.length
      ? []
      : ["operation doubled: one is carried over twice"]),
  ];
}

type Request = { origin: unknown; index: unknown; leafHash: unknown };

function isRequest({ detail = {} }: Leaf, { origin, index, leafHash }: Request): boolean {
  return (
    detail["origin"] === origin && detail["index"] === index && detail["leaf_sha256"] === leafHash
  );
}

function openOperations(
  { origin, hashes }: ReadLog,
  leaves: readonly Leaf[],
): Map<string, Request> {
  const open = new Map<string, Request>();
  for (const [index, { type, op, phase, detail = {} }] of leaves.entries()) {
    if (type === "audit.op.carried")
      open.set(op, {
        origin: detail["origin"],
        index: detail["index"],
        leafHash: detail["leaf_sha256"],
      });
    else if (phase === "requested")
      open.set(op, { origin, index, leafHash: hashes[index]!.toString("hex") });
    else if (phase !== "fact") open.delete(op);
  }
  return open;
}
