import { commitmentOf } from "./commitment.ts";
import { EVENT_CATALOGUE, type CatalogueEntry } from "@resontech/contracts/audit-catalogue";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import { msOf } from "./instant.ts";

/** Why an event is refused; `reason` of `audit.rejected`. */
export type Refusal = { reason: string; message: string };

const SHA256_HEX = /^[0-9a-f]{64}$/;

/** What the schema of a type can't say. Null when the event keeps every rule. */
export function ruleViolation(event: EventDraft & { t: string }): Refusal | null {
  const entry: CatalogueEntry = EVENT_CATALOGUE[event.type];
  if (event.object.kind !== entry.object)
    return { reason: "object_kind", message: `${event.type} tells of a ${entry.object}` };
  if (event.object.kind === "object" && !SHA256_HEX.test(event.object.id))
    return {
      reason: "not_a_commitment",
      message: "the id of an object is a commitment of its path",
    };
  const isOutcome =
    event.phase === "completed" || event.phase === "failed" || event.phase === "denied";
  // A fact may tell at once how it ended.
  if (event.phase !== "fact" && isOutcome !== (event.outcome !== undefined))
    return {
      reason: "outcome",
      message: "an outcome has `outcome`, a fact may have it, nothing else has",
    };
  if (event.pii?.some(({ field }, at, all) => at > 0 && field <= all[at - 1]!.field))
    return { reason: "pii_order", message: "pii is in order of field names, each once" };
  if (msOf(event.t) === null) return { reason: "time", message: "t is no instant" };
  return null;
}

/** Every commitment of an event by the field name that is hashed into it. */
export function commitmentsOf(event: EventDraft): Map<string, string> {
  const slots: [string, string | undefined][] = [
    ["actor.sid", event.actor.sid],
    ["src.addr", event.src?.addr],
    ["src.agent", event.src?.agent],
    ["object.id", event.object.kind === "object" ? event.object.id : undefined],
    ["digests.input", event.digests?.input],
    ["digests.output", event.digests?.output],
    ...(event.pii ?? []).map(({ field, commitment }): [string, string] => [
      `pii.${field}`,
      commitment,
    ]),
  ];
  return new Map(slots.filter((slot): slot is [string, string] => slot[1] !== undefined));
}

/** Disclosures must open commitments of this very event, each at most once. Those of an earlier event may stay away. */
export function disclosureViolation(
  event: EventDraft,
  disclosures: readonly Disclosure[],
): Refusal | null {
  if (disclosures.length === 0) return null;
  const open = commitmentsOf(event);
  for (const { field, salt, value } of disclosures) {
    const expected = open.get(field);
    if (expected === undefined)
      return { reason: "disclosure_unknown", message: `no commitment of ${field} to open` };
    if (commitmentOf(field, salt, value) !== expected)
      return {
        reason: "disclosure_mismatch",
        message: `the disclosure of ${field} does not open its commitment`,
      };
    open.delete(field);
  }
  return null;
}
