/** Entries as they come: facts, operations with their outcomes, short and long ones, some with commitments of personal values. */
import { type AuditProducer, committer, type LeafRef } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { type Disclosure, PII_FIELDS } from "@resontech/contracts/audit-event";

type Entry = { draft: EventDraft; disclosures: readonly Disclosure[] };

const BATCH = 1_000;
/** The longest of all stands in every so many rounds. */
const ROUNDS_A_LONGEST = 16;
/** Every shape has come often by then: a large log goes on with short ones between its rounds, which take half the time. */
const ROUNDS_WITHOUT_REST = 64;
const SHORT_ONES = 64;
const LONGEST_ID = "a".repeat(64);
const SHA256_HEX = "5".repeat(64);

export class MixedEntries {
  readonly #producer: AuditProducer;
  readonly #entries = mixedEntries();

  constructor(producer: AuditProducer) {
    this.#producer = producer;
  }

  /** Until a checkpoint covers so many entries of the log, auditd's own among them. */
  async growTo(size: number): Promise<void> {
    let index = (await this.#producer.status()).size - 1;
    while (index + 1 < size) index = (await this.write(Math.min(size - index - 1, BATCH))).index;
    await this.#producer.covered(index);
  }

  /** @returns where the last one lies */
  async write(count: number): Promise<LeafRef> {
    const written = Array.from({ length: count }, () => {
      const { draft, disclosures } = this.#entries.next().value;
      return this.#producer.append(draft, disclosures);
    });
    return (await Promise.all(written)).at(-1)!;
  }
}

function* mixedEntries(): Generator<Entry, never> {
  for (let round = 0; ; round++) {
    yield { draft: fact("u"), disclosures: [] };
    yield* operation();
    yield committed();
    yield* denied();
    yield wordy();
    yield* objectWrite(round);
    yield failures(round);
    if (round % ROUNDS_A_LONGEST === ROUNDS_A_LONGEST - 1) yield longest();
    if (round >= ROUNDS_WITHOUT_REST)
      for (let left = SHORT_ONES; left > 0; left--) yield { draft: fact("u"), disclosures: [] };
  }
}

const fact = (sub: string): EventDraft => ({
  ...{ type: "key.list", phase: "fact", op: crypto.randomUUID() },
  actor: { sub, kind: "user" },
  object: { kind: "user", id: sub },
});

function* operation(): Generator<Entry> {
  const submit = {
    ...({ type: "job.submit", op: crypto.randomUUID() } as const),
    actor: { sub: "usr-1", kind: "user" },
    object: { kind: "job", id: "job-1" },
  } satisfies Partial<EventDraft>;
  const detail = { shards: 2, inputs: 3, input_bytes: 1_000_000, key_in_script: false };
  yield {
    draft: { ...submit, phase: "requested", action: "POST /api/tasks", detail },
    disclosures: [],
  };
  yield {
    draft: { ...submit, phase: "completed", outcome: { code: "ok", status: 201 } },
    disclosures: [],
  };
}

/** Values beyond ASCII, and some that JSON escapes. */
function committed(): Entry {
  const commit = committer();
  const about = fact("usr-2");
  const draft: EventDraft = {
    ...about,
    actor: { ...about.actor, sid: commit("actor.sid", crypto.randomUUID()) },
    src: { addr: commit("src.addr", "2001:db8::7"), agent: commit("src.agent", 'curl/8 "x"\\\n') },
    pii: [{ field: "email", commitment: commit("pii.email", "zoë@example.org") }],
  };
  return { draft, disclosures: commit.disclosures };
}

function* denied(): Generator<Entry> {
  const cancel = {
    ...({ type: "job.cancel", op: crypto.randomUUID() } as const),
    actor: { sub: "usr-1", kind: "user", roles: ["member"] },
    object: { kind: "job", id: "job-2" },
  } satisfies Partial<EventDraft>;
  const decision = {
    effect: "deny" as const,
    policy_set_sha256: SHA256_HEX,
    policy_ids: ["jobs-of-others"],
  };
  yield { draft: { ...cancel, phase: "requested" }, disclosures: [] };
  yield {
    draft: { ...cancel, phase: "denied", decision, outcome: { code: "forbidden", status: 403 } },
    disclosures: [],
  };
}

function wordy(): Entry {
  const about = fact(LONGEST_ID);
  const actor: EventDraft["actor"] = {
    ...about.actor,
    roles: ["admin", "member"],
    acr: "mfa",
    azp: "console",
  };
  const detail = { count: Number.MAX_SAFE_INTEGER };
  return {
    draft: { ...about, actor, on_behalf_of: LONGEST_ID, action: "GET /api/keys", detail },
    disclosures: [],
  };
}

function* objectWrite(round: number): Generator<Entry> {
  const commit = committer();
  const id = commit("object.id", `inputs/patients-${round}.csv`);
  const write = {
    ...({ type: "data.object.write", op: crypto.randomUUID() } as const),
    actor: { sub: "key-1", kind: "key" },
    object: { kind: "object", id, class: "health", residency: "eu" },
  } satisfies Partial<EventDraft>;
  const digests = { input: commit("digests.input", SHA256_HEX) };
  const requested: EventDraft = {
    ...write,
    phase: "requested",
    digests,
    detail: { bucket: "b-1", bytes: round },
  };
  yield { draft: requested, disclosures: commit.disclosures };
  yield {
    draft: { ...write, phase: "failed", outcome: { code: "quota_exceeded", status: 507 } },
    disclosures: [],
  };
}

function failures(round: number): Entry {
  const draft: EventDraft = {
    ...{ type: "auth.failure", phase: "fact", op: crypto.randomUUID() },
    actor: { sub: "anonymous", kind: "anonymous" },
    object: { kind: "appliance", id: "appliance" },
    detail: { reason: "token_expired", count: round, window_s: 60 },
  };
  return { draft, disclosures: [] };
}

/** As much as its fields take: a third of the longest leaf. */
function longest(): Entry {
  const commit = committer();
  const ids = Array.from(
    { length: 32 },
    (_, at) => `${String(at).padStart(2, "0")}${"p".repeat(62)}`,
  );
  const about = fact(LONGEST_ID);
  const draft: EventDraft = {
    ...about,
    actor: { ...about.actor, roles: ids },
    decision: { effect: "allow", policy_set_sha256: SHA256_HEX, policy_ids: ids },
    pii: [...PII_FIELDS]
      .sort()
      .map((field) => ({ field, commitment: commit(`pii.${field}`, `${field} `.repeat(100)) })),
  };
  return { draft, disclosures: commit.disclosures };
}
