/** One leaf, judged without the writer's code: canonical form, and the closed envelope of version 1. */
import { canonicalFault } from "./canonical.ts";

export const MAX_LEAF_BYTES = 16_384;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const HEX = /^[0-9a-f]{64}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;
const PHASES = ["requested", "completed", "failed", "denied", "fact", "observed"];

type Rule = { required: boolean; holds: (value: unknown) => boolean };
const text = (pattern: RegExp): Rule => ({ required: true, holds: (value) => typeof value === "string" && pattern.test(value) });
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const object: Rule = { required: true, holds: isObject };
const optional = (rule: Rule): Rule => ({ ...rule, required: false });

/** Member by member; the closed content of `detail` by type is auditd's to check, and the catalogue's to tell. */
const ENVELOPE: Readonly<Record<string, Rule>> = {
  v: { required: true, holds: (value) => value === 1 },
  id: text(UUID),
  op: text(UUID),
  type: text(/^(?:auth|iam|job|data|model|policy|key|egress|admin|audit|privacy|review)(?:\.[a-z][a-z-]{0,31}){1,3}$/),
  phase: { required: true, holds: (value) => PHASES.includes(value as string) },
  t: text(INSTANT),
  t_log: text(INSTANT),
  prod: text(/^[a-z][a-z0-9-]{0,31}$/),
  boot: text(/^[A-Za-z0-9-]{1,64}$/),
  pseq: { required: true, holds: (value) => Number.isSafeInteger(value) && Number(value) >= 1 },
  actor: object,
  object,
  schema_sha256: text(HEX),
  clk: optional(object),
  on_behalf_of: optional(text(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/)),
  src: optional(object),
  action: optional(text(/^[A-Za-z][A-Za-z0-9 :/_.{}*-]{0,127}$/)),
  decision: optional(object),
  outcome: optional(object),
  digests: optional(object),
  pii: { required: false, holds: Array.isArray },
  detail: optional(object),
};
const REQUIRED = Object.keys(ENVELOPE).filter((name) => ENVELOPE[name]?.required === true);

export type LeafFacts = { type: string; tLog: string };

/** What the report counts, or why this is no leaf of this log. */
export function readLeaf(bytes: Buffer): LeafFacts | { fault: string } {
  if (bytes.length > MAX_LEAF_BYTES) return { fault: `longer than ${MAX_LEAF_BYTES} bytes` };
  let decoded: string;
  try {
    decoded = utf8.decode(bytes);
  } catch {
    return { fault: "no UTF-8 text" };
  }
  const fault = canonicalFault(decoded);
  if (fault !== null) return { fault: `not canonical: ${fault}` };
  const event: unknown = JSON.parse(decoded);
  if (!isObject(event)) return { fault: "no JSON object" };
  const members = event as Record<string, unknown>;
  for (const [name, value] of Object.entries(members)) {
    const rule = Object.hasOwn(ENVELOPE, name) ? ENVELOPE[name] : undefined;
    if (rule === undefined) return { fault: `an unknown member ${name.slice(0, 64)}` };
    if (!rule.holds(value)) return { fault: `a wrong ${name}` };
  }
  const missing = REQUIRED.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) return { fault: `no ${missing}` };
  return { type: String(members["type"]), tLog: String(members["t_log"]) };
}
