import type { EventDraft } from "@resontech/contracts/audit-draft";
import { Disclosure, MAX_EVENT_DEPTH, MAX_LEAF_BYTES } from "@resontech/contracts/audit-event";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { CanonicalError, isCanonical } from "@resontech/audit/format/event/canonical-json";
import { ADDED_BY_AUDITD_BYTES } from "@resontech/audit/format/event/compose-event";
import { isEventType, schemaViolation } from "@resontech/audit/format/event/event-schema";
import { KeptSchemas } from "@resontech/audit/format/event/kept-sets";
import {
  disclosureViolation,
  type Refusal,
  ruleViolation,
} from "@resontech/audit/format/event/event-rules";
import { SCHEMA_SHA256 } from "@resontech/audit/format/event/schema-digest";

/** An event as its producer sent it. */
export type SentEvent = EventDraft & {
  v: 1;
  id: string;
  t: string;
  boot: string;
  pseq: number;
  schema_sha256: string;
};

/** Where an event claims to stand; a claim is null when it can't be read. */
export type Claim = { boot: string | null; pseq: number | null; type: string | null };

/** Bytes that are canonical JSON of one object; nothing else is known of them yet. */
export type ReadBytes = { value: Record<string, unknown> };

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const MAX_DISCLOSURES = 32;
const disclosuresSchema = Compile(Type.Array(Disclosure, { maxItems: MAX_DISCLOSURES }));
const CODE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const SHA256 = /^[0-9a-f]{64}$/;
const KEPT = new KeptSchemas();
const BOOT = /^[A-Za-z0-9-]{1,64}$/;

/** Reads hostile bytes. The claim is given also with a refusal, as far as it can be made out. */
export function readBytes(
  bytes: Buffer,
): { read: ReadBytes; claim: Claim } | { refusal: Refusal; claim: Claim } {
  const nothing: Claim = { boot: null, pseq: null, type: null };
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
    value = JSON.parse(text);
  } catch (error) {
    return { refusal: { reason: "not_json", message: String(error) }, claim: nothing };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return {
      refusal: { reason: "not_json", message: "an event is one JSON object" },
      claim: nothing,
    };
  const object = value as Record<string, unknown>;
  const claim = claimOf(object);
  if (bytes.length + ADDED_BY_AUDITD_BYTES > MAX_LEAF_BYTES)
    return { refusal: { reason: "too_long", message: `${bytes.length} bytes` }, claim };
  try {
    // Duplicate names, spaces, other escapes or orders: whatever differs from the canonical form of what was understood.
    if (!isCanonical(text, object, MAX_EVENT_DEPTH))
      return {
        refusal: {
          reason: "not_canonical",
          message: "the bytes are not the canonical form of their value",
        },
        claim,
      };
    return { read: { value: object }, claim };
  } catch (error) {
    if (error instanceof CanonicalError)
      return { refusal: { reason: error.code, message: error.message }, claim };
    throw error;
  }
}

/** Judges the content of an event and its disclosures by the schema set that it names, of this release or an earlier one, and by the rules. */
export function evaluateContent(
  { value }: ReadBytes,
  disclosureBytes: Buffer,
  kept: KeptSchemas = KEPT,
): { event: SentEvent; disclosures: Disclosure[] } | { refusal: Refusal } {
  const { type, schema_sha256: named } = value;
  const isPresent = named === SCHEMA_SHA256;
  // The set first: a newer one may have types that are not known here.
  if (!isPresent && !kept.has(named))
    return { refusal: { reason: "schema_version", message: unknownSet(named, kept) } };
  if (!isEventType(type))
    return { refusal: { reason: "type", message: "the catalogue has no such type" } };
  const violation = isPresent ? schemaViolation(type, value) : kept.violation(named, type, value);
  if (violation !== null) return { refusal: { reason: "schema", message: violation } };
  const event = value as unknown as SentEvent; // What the schema of its type has just found it to be.
  const refusal = ruleViolation(event);
  if (refusal !== null) return { refusal };
  const disclosures = readDisclosures(disclosureBytes);
  if (disclosures === null)
    return {
      refusal: {
        reason: "disclosure_malformed",
        message: "disclosures are no list of {field, salt, value}",
      },
    };
  const mismatch = disclosureViolation(event, disclosures);
  return mismatch === null ? { event, disclosures } : { refusal: mismatch };
}

function unknownSet(named: unknown, kept: KeptSchemas): string {
  const its =
    typeof named === "string" && SHA256.test(named) ? `schema set ${named}` : "no schema set";
  return `the event names ${its}; this auditd knows its own, ${SCHEMA_SHA256}, and those of the releases ${kept.releases.join(", ")}: a producer of a newer release must wait for auditd's upgrade`;
}

function readDisclosures(bytes: Buffer): Disclosure[] | null {
  if (bytes.length === 0) return [];
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    return disclosuresSchema.Check(value) && value.every((one) => one.value.isWellFormed())
      ? value
      : null;
  } catch {
    return null;
  }
}

function claimOf(value: Record<string, unknown>): Claim {
  const { boot, pseq, type } = value;
  return {
    boot: typeof boot === "string" && BOOT.test(boot) ? boot : null,
    pseq: typeof pseq === "number" && Number.isSafeInteger(pseq) && pseq >= 1 ? pseq : null,
    type: typeof type === "string" && CODE.test(type) ? type : null,
  };
}
