/** One leaf, judged without the writer's code: canonical form, the closed envelope of version 1, the closed content of its type. */
import { textOf } from "../input/bytes.ts";
import { readCanonical } from "./canonical.ts";
import { checkEnvelope, ruleOf, SCHEMA_SHA256 } from "./catalogue.ts";
import { isDetail } from "./detail.ts";
import { instantMs } from "./instant.ts";
import { type Leaf, MAX_LEAF_BYTES } from "./leaf.ts";
import { plainLeaf } from "./plain-leaf.ts";

const PHASES = ["requested", "completed", "failed", "denied", "fact", "observed"];
const TYPE =
  /^(?:auth|iam|job|data|model|policy|key|egress|admin|audit|privacy|review)(?:\.[a-z][a-z-]{0,31}){1,3}$/;

/** `isForeign`: written under another set of schemas, so that what its type may say is not known here. */
export type ReadLeaf = { leaf: Leaf; isForeign: boolean };

/** The leaf between two places: what the quick reading says nothing of, the thorough one judges. */
export function readLeaf(
  bytes: Uint8Array,
  from: number = 0,
  to: number = bytes.length,
): ReadLeaf | { fault: string } {
  const leaf = to - from > MAX_LEAF_BYTES ? null : plainLeaf(bytes, from, to);
  return leaf === null ? readThoroughly(bytes.subarray(from, to)) : { leaf, isForeign: false };
}

export function readThoroughly(bytes: Uint8Array): ReadLeaf | { fault: string } {
  if (bytes.length > MAX_LEAF_BYTES) return { fault: `longer than ${MAX_LEAF_BYTES} bytes` };
  const text = textOf(bytes);
  if (text === null) return { fault: "no UTF-8 text" };
  const read = readCanonical(text);
  if ("fault" in read) return { fault: `not canonical: ${read.fault}` };
  const event = read.value;
  if (typeof event !== "object" || event === null || Array.isArray(event))
    return { fault: "no JSON object" };
  const envelopeFault = checkEnvelope(event);
  if (envelopeFault !== null) return { fault: envelopeFault("entry") };
  const leaf = event as Leaf; // What its envelope has just been found to be.
  if (Number.isNaN(instantMs(leaf.t_log))) return { fault: "a wrong entry.t_log" };
  const { type, phase, detail } = event as Record<string, unknown>;
  if (typeof type !== "string" || !TYPE.test(type)) return { fault: "a wrong type" };
  if (typeof phase !== "string" || !PHASES.includes(phase)) return { fault: "a wrong phase" };
  if (detail !== undefined && !isDetail(detail))
    return { fault: "with a detail that is no object" };
  const isForeign = leaf.schema_sha256 !== SCHEMA_SHA256;
  const rule = ruleOf(type);
  if (isForeign || rule === null)
    return isForeign ? { leaf, isForeign } : { fault: `of a type that its schemas do not know` };
  if (!rule.phases.includes(phase)) return { fault: `${type} in a phase that it has not` };
  if (leaf.object.kind !== rule.object) return { fault: `${type} of another kind of object` };
  const detailFault = detail === undefined ? null : rule.detail(detail);
  return detailFault === null
    ? { leaf, isForeign }
    : { fault: `${type} with ${detailFault("detail")}` };
}
