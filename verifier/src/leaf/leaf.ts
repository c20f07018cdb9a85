/** An entry as the judges read it. */
import type { Detail } from "./detail.ts";

export const MAX_LEAF_BYTES = 16_384;

/** What the judges read of an entry; its shape is the catalogue's. */
export type Leaf = {
  op: string;
  type: string;
  phase: string;
  t: string;
  t_log: string;
  prod: string;
  boot: string;
  pseq: number;
  actor: { sub: string; sid?: string };
  on_behalf_of?: string;
  src?: { addr?: string; agent?: string };
  object: { kind: string; id: string };
  digests?: { input?: string; output?: string; image?: string };
  pii?: { field: string; commitment: string }[];
  detail?: Detail;
  schema_sha256: string;
};

/** By the field name that is hashed into a commitment; those of `pii` are named by the entry. */
const COMMITTED: readonly [field: string, of: (leaf: Leaf) => string | undefined][] = [
  ["actor.sid", ({ actor }) => actor.sid],
  ["src.addr", ({ src }) => src?.addr],
  ["src.agent", ({ src }) => src?.agent],
  ["object.id", ({ object }) => (object.kind === "object" ? object.id : undefined)],
  ["digests.input", ({ digests }) => digests?.input],
  ["digests.output", ({ digests }) => digests?.output],
];

/** Every commitment of an entry by its field; null for an entry without any, as most are. */
export function commitmentsOf(leaf: Leaf): Map<string, string> | null {
  let found: Map<string, string> | null = null;
  for (const [field, of] of COMMITTED) {
    const commitment = of(leaf);
    if (commitment !== undefined)
      found = (found ?? new Map<string, string>()).set(field, commitment);
  }
  if (leaf.pii !== undefined)
    for (const { field, commitment } of leaf.pii)
      found = (found ?? new Map<string, string>()).set(`pii.${field}`, commitment);
  return found;
}
