/** What the schemas let a leaf hold at most, and what our own emitters make of those that would let it hold more than 16 KiB. */
import { generateKeyPairSync } from "node:crypto";
import {
  EVENT_CATALOGUE,
  EVENT_TYPES,
  type EventDetail,
  type EventType,
  leafSchema,
  MAX_HEARTBEAT_PRODUCERS,
} from "@resontech/contracts/audit-catalogue";
import type { AuditEvent, EventDraft } from "@resontech/contracts/audit-draft";
import { MAX_EVENT_DEPTH, MAX_LEAF_BYTES, PII_FIELDS } from "@resontech/contracts/audit-event";
import { Compile } from "typebox/compile";
import t from "tap";
import { heartbeatOf } from "@resontech/auditd/decisions/heartbeat";
import { readBytes } from "@resontech/auditd/decisions/read-event";
import { canonicalJson } from "../../../src/format/event/canonical-json.ts";
import { leafOf } from "../../../src/format/event/leaf.ts";
import { KEY_TYPE, noteSigner, verifierKey } from "../../../src/format/note/note-key.ts";
import { type ComposedEvent, composeEvent } from "../../../src/producer/producer.ts";
import { longestValue } from "../../helper/longest-value.ts";

const LONGEST_PRODUCER = "p".repeat(63);
const bytesOf = (value: unknown): number =>
  Buffer.byteLength(canonicalJson(value, MAX_EVENT_DEPTH));
const longestLeaf = (type: EventType) => longestValue(leafSchema(type)) as Record<string, unknown>;
/** What `composeEvent` makes of an event of auditd's own, as a leaf. */
function ownLeaf<T extends EventType>(type: T, detail: EventDetail<T>): Buffer {
  const { object: kind } = EVENT_CATALOGUE[type];
  const op = crypto.randomUUID();
  const draft = {
    type,
    op,
    phase: "fact" as const,
    actor: { sub: "auditd", kind: "system" as const },
    object: { kind, id: "auditd" },
  };
  const place = { boot: crypto.randomUUID(), pseq: Number.MAX_SAFE_INTEGER };
  return leafOf(
    Buffer.from(composeEvent({ ...draft, detail }, place).event),
    "auditd",
    "2026-01-01T00:00:00.000Z",
  );
}

t.test("the longest event that a schema allows keeps that schema", async (t) => {
  for (const type of EVENT_TYPES) {
    const [first] = Compile(leafSchema(type)).Errors(longestLeaf(type));
    t.equal(first, undefined, type);
  }
});

t.test("of all types but five no event can be longer than a leaf, whatever it says", async (t) => {
  const sizes = EVENT_TYPES.map((type) => [type, bytesOf(longestLeaf(type))] as const);
  const beyond = sizes.filter(([, bytes]) => bytes > MAX_LEAF_BYTES);
  t.same(
    new Set(beyond.map(([type]) => type)),
    new Set([
      "audit.heartbeat",
      "audit.shard.next",
      "admin.measured",
      "privacy.erasure",
      "privacy.retention",
    ]),
    "a new one among them needs an emitter that bounds what it states, and a test of that",
  );
  t.ok(
    sizes.every(
      ([type, bytes]) => beyond.some(([one]) => one === type) || bytes < MAX_LEAF_BYTES - 4_096,
    ),
  );
});

t.test(
  "what a part runs, and what was erased, fits wherever the event lists neither 32 roles nor 32 policies",
  async (t) => {
    for (const type of ["admin.measured", "privacy.erasure", "privacy.retention"] as const) {
      const { actor, decision: _decision, ...rest } = longestLeaf(type);
      const { roles: _roles, ...plain } = actor as Record<string, unknown>;
      const bytes = bytesOf({ ...rest, actor: plain });
      t.ok(bytes < MAX_LEAF_BYTES, `${type}: ${bytes} bytes`);
    }
  },
);

t.test(
  "a heartbeat fits whoever there is: of many producers, or of long names, it has the digest",
  async (t) => {
    const away = Array.from({ length: 64 }, () => LONGEST_PRODUCER);
    const positions = (count: number, chars: number) =>
      Array.from({ length: count }, (_, at) => ({
        prod: `${"n".repeat(chars - 5)}${10_000 + at}`,
        boot: "b".repeat(Math.min(64, chars)),
        pseq: Number.MAX_SAFE_INTEGER,
      }));
    const beat = (count: number, chars: number) => {
      const detail = heartbeatOf(
        { positions: () => positions(count, chars), openCount: Number.MAX_SAFE_INTEGER },
        away,
      );
      return { detail, bytes: ownLeaf("audit.heartbeat", detail).length };
    };
    for (const chars of [6, 24, 63])
      for (let count = 0; count <= MAX_HEARTBEAT_PRODUCERS; count++)
        t.ok(beat(count, chars).bytes < MAX_LEAF_BYTES);
    for (const count of [MAX_HEARTBEAT_PRODUCERS + 1, 10_000]) {
      const { detail, bytes } = beat(count, 63);
      t.match(detail, {
        vector: { producers: count, sha256: /^[0-9a-f]{64}$/ },
        producers: undefined,
      });
      t.ok(bytes < MAX_LEAF_BYTES);
    }
  },
);

t.test("the next shard's keys fit: they are two, named as long as an origin can be", async (t) => {
  const origin = `${"a".repeat(63)}.audit.${"c".repeat(63)}/2027`;
  const keys = (["ed25519", "mlDsa44"] as const).map((kind) => {
    const { privateKey } =
      kind === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ml-dsa-44");
    return verifierKey(noteSigner(origin, KEY_TYPE[kind], privateKey));
  });
  const { length } = ownLeaf("audit.shard.next", { origin, keys });
  t.ok(length < 4_096, `${length} bytes`);
});

t.test(
  "the longest event that is taken makes a leaf of 16 KiB, however long its producer's name is",
  async (t) => {
    const {
      prod: _prod,
      t_log: _tLog,
      ...sent
    } = longestLeaf("privacy.erasure") as unknown as AuditEvent;
    const pii = [...PII_FIELDS].sort().map((field) => ({ field, commitment: "0".repeat(64) }));
    const composed = (cut: number): ComposedEvent | null => {
      const policies = sent.decision!.policy_ids!.map((id, at) =>
        id.slice(0, Math.max(1, Math.min(64, 64 - cut + 63 * at))),
      );
      const draft = {
        ...sent,
        phase: "completed",
        pii,
        decision: { ...sent.decision!, policy_ids: policies },
      } as EventDraft;
      const object = { ...sent.object, kind: "user" as const };
      try {
        return composeEvent(
          { ...draft, object },
          { boot: "b".repeat(64), pseq: Number.MAX_SAFE_INTEGER },
        );
      } catch (error) {
        t.match(error, { reason: "too_long" });
        return null;
      }
    };
    let cut = 0;
    while (cut < 2_000 && composed(cut) === null) cut++;
    t.ok(cut > 0);
    const event = Buffer.from(composed(cut)!.event);
    t.equal(leafOf(event, LONGEST_PRODUCER, "2026-01-01T00:00:00.000Z").length, MAX_LEAF_BYTES);
    t.match(readBytes(event), { read: {} }, "auditd judges the same");
    const longer = Buffer.from(composed(cut)!.event.replace("{", "{ "));
    t.match(readBytes(longer), { refusal: { reason: "too_long" } });
  },
);
