/**
 * The quick reading of a leaf: in one pass over its bytes, for entries of this release's schemas that are plain. What it takes the thorough reading
 * takes as well, and reads the same in it; which its test compares.
 */
import { ENVELOPE, ruleOf, SCHEMA_SHA256, TYPES, type TypeRule } from "./catalogue.ts";
import { isAt, utf8 } from "../input/bytes.ts";
import { MAX_DEPTH } from "./canonical.ts";
import type { Detail } from "./detail.ts";
import { fixedForm } from "./fixed-form.ts";
import { instantMs } from "./instant.ts";
import type { Leaf } from "./leaf.ts";
import {
  type Cursor,
  membersReader,
  plainReader,
  plainSkipper,
  QUOTE,
  type ReadPlain,
} from "./plain-value.ts";

type Kind = { rule: TypeRule; readDetail: ReadPlain };

/** Every entry's end: so its type is known before its detail is read, which stands before it. */
const TAIL = utf8(',"v":1}');
const kinds = new Map<string, Kind>();
for (const [type, { detail }] of Object.entries(TYPES))
  kinds.set(type, { rule: ruleOf(type)!, readDetail: plainReader(detail, MAX_DEPTH - 1) });

const readType = plainReader({ type: "string" });
const cursor: Cursor = { bytes: new Uint8Array(0), at: 0 };
/** Of the entry that is read: where its type stands, and what it means. */
let typeAt = 0;
let kind: Kind | undefined;

const { names, read } = membersReader(ENVELOPE, MAX_DEPTH, {
  type: (at) => (at.at === typeAt ? readType(at) : undefined),
  phase: plainReader({ type: "string" }),
  detail: (at) => kind!.readDetail(at),
  // No judge reads it.
  id: plainSkipper(fixedForm(ENVELOPE.properties!["id"]!.pattern!)!),
});
const values: unknown[] = names.map(() => undefined);
const slot = (name: keyof Leaf): number => names.indexOf(name);
const OP = slot("op");
const TYPE = slot("type");
const PHASE = slot("phase");
const T = slot("t");
const T_LOG = slot("t_log");
const PROD = slot("prod");
const BOOT = slot("boot");
const PSEQ = slot("pseq");
const ACTOR = slot("actor");
const ON_BEHALF_OF = slot("on_behalf_of");
const SRC = slot("src");
const OBJECT = slot("object");
const DIGESTS = slot("digests");
const PII = slot("pii");
const DETAIL = slot("detail");
const SCHEMA = slot("schema_sha256");

/** @returns null for a leaf that is to be read thoroughly */
export function plainLeaf(bytes: Uint8Array, from: number, to: number): Leaf | null {
  const typeEnd = to - TAIL.length;
  if (!isAt(bytes, typeEnd, TAIL)) return null;
  typeAt = typeEnd - 2;
  while (typeAt > from && bytes[typeAt] !== QUOTE) typeAt -= 1;
  cursor.bytes = bytes;
  cursor.at = typeAt;
  const type = readType(cursor) as string;
  kind = kinds.get(type);
  if (kind === undefined) return null;
  cursor.at = from;
  if (!read(cursor, values) || cursor.at !== to || values[TYPE] !== type) return null;
  const phase = values[PHASE] as string;
  const object = values[OBJECT] as Leaf["object"];
  const { rule } = kind;
  const isOfThisRelease =
    values[SCHEMA] === SCHEMA_SHA256 && rule.phases.includes(phase) && object.kind === rule.object;
  if (!isOfThisRelease || Number.isNaN(instantMs(values[T_LOG] as string))) return null;
  return {
    op: values[OP] as string,
    type,
    phase,
    t: values[T] as string,
    t_log: values[T_LOG] as string,
    prod: values[PROD] as string,
    boot: values[BOOT] as string,
    pseq: values[PSEQ] as number,
    actor: values[ACTOR] as Leaf["actor"],
    on_behalf_of: values[ON_BEHALF_OF] as string | undefined,
    src: values[SRC] as Leaf["src"],
    object,
    digests: values[DIGESTS] as Leaf["digests"],
    pii: values[PII] as Leaf["pii"],
    detail: values[DETAIL] as Detail | undefined,
    schema_sha256: SCHEMA_SHA256,
  };
}
