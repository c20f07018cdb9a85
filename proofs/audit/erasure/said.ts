/** Events about people, with values that the proof remembers. */
import { randomBytes, randomUUID } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";

/** Longer than a page of any of the databases: it lies on pages of its own. */
const LONG_CHARACTERS = 5_000;

export type Said = {
  subject: string;
  field: "pii.username";
  salt: string;
  value: string;
  commitment: string;
  isLong: boolean;
};
export type ToSay = {
  said: Said;
  draft: EventDraft<"key.list">;
  disclosures: readonly Disclosure[];
};

export function compose(subject: string, isLong = false): ToSay {
  const commit = committer();
  const value = `Ada Lovelace ${randomBytes(isLong ? LONG_CHARACTERS * 0.75 : 12).toString("base64url")} of Example Street`;
  const field = "pii.username";
  const commitment = commit(field, value);
  const said: Said = {
    subject,
    field,
    salt: commit.disclosures[0]!.salt,
    value,
    commitment,
    isLong,
  };
  const draft: ToSay["draft"] = {
    ...({ type: "key.list", phase: "fact", op: randomUUID() } as const),
    ...{ actor: { sub: subject, kind: "user" }, object: { kind: "user", id: subject } },
    pii: [{ field: "username", commitment }],
  };
  return { said, draft, disclosures: commit.disclosures };
}
