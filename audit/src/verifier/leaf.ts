/** One leaf, judged without the writer's code: canonical form, the closed envelope of version 1, the closed content of its type. */
import { textOf } from "./bytes.ts";
import { readCanonical } from "./canonical.ts";
import { checkEnvelope, ruleOf, SCHEMA_SHA256 } from "./catalogue.ts";
import { type Detail, isDetail } from "./detail.ts";
import { instantMs } from "./instant.ts";

export const MAX_LEAF_BYTES = 16_384;
const PHASES = ["requested", "completed", "failed", "denied", "fact", "observed"];
const TYPE = /^(?:auth|iam|job|data|model|policy|key|egress|admin|audit|privacy|review)(?:\.[a-z][a-z-]{0,31}){1,3}$/;

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
  digests?: { input?: string; output?: string };
  pii?: { field: string; commitment: string }[];
  detail?: Detail;
  schema_sha256: string;
};

/** `isForeign`: written under another set of schemas, so that what its type may say is not known here. */
export type ReadLeaf = { leaf: Leaf; isForeign: boolean };

export function readLeaf(bytes: Uint8Array): ReadLeaf | { fault: string } {
  if (bytes.length > MAX_LEAF_BYTES) return { fault: `longer than ${MAX_LEAF_BYTES} bytes` };
  const text = textOf(bytes);
  if (text === null) return { fault: "no UTF-8 text" };
  const read = readCanonical(text);
  if ("fault" in read) return { fault: `not canonical: ${read.fault}` };
  const event = read.value;
  if (typeof event !== "object" || event === null || Array.isArray(event)) return { fault: "no JSON object" };
  const envelopeFault = checkEnvelope(event);
  if (envelopeFault !== null) return { fault: envelopeFault("entry") };
  const leaf = event as Leaf; // What its envelope has just been found to be.
  if (Number.isNaN(instantMs(leaf.t_log))) return { fault: "a wrong entry.t_log" };
  const { type, phase, detail } = event as Record<string, unknown>;
  if (typeof type !== "string" || !TYPE.test(type)) return { fault: "a wrong type" };
  if (typeof phase !== "string" || !PHASES.includes(phase)) return { fault: "a wrong phase" };
  if (detail !== undefined && !isDetail(detail)) return { fault: "with a detail that is no object" };
  const isForeign = leaf.schema_sha256 !== SCHEMA_SHA256;
  const rule = ruleOf(type);
  if (isForeign || rule === null) return isForeign ? { leaf, isForeign } : { fault: `of a type that its schemas do not know` };
  if (!rule.phases.includes(phase)) return { fault: `${type} in a phase that it has not` };
  if (leaf.object.kind !== rule.object) return { fault: `${type} of another kind of object` };
  const detailFault = detail === undefined ? null : rule.detail(detail);
  return detailFault === null ? { leaf, isForeign } : { fault: `${type} with ${detailFault("detail")}` };
}

/** Every commitment of an entry by the field name that is hashed into it. */
export function commitmentsOf({ actor, src, object, digests, pii }: Leaf): Map<string, string> {
  const found = new Map<string, string>();
  const add = (field: string, commitment: string | undefined): void => {
    if (commitment !== undefined) found.set(field, commitment);
  };
  add("actor.sid", actor.sid);
  add("src.addr", src?.addr);
  add("src.agent", src?.agent);
  if (object.kind === "object") add("object.id", object.id);
  add("digests.input", digests?.input);
  add("digests.output", digests?.output);
  for (const { field, commitment } of pii ?? []) add(`pii.${field}`, commitment);
  return found;
}
