import fc from "fast-check";
import t from "tap";
import { canonicalJson } from "../../../src/format/event/canonical-json.ts";
import { leafOf, sentText } from "../../../src/format/event/leaf.ts";
import { checkProperty } from "@resontech/house/check-property";

/** Texts that look like the places that are looked for. */
const misleading = fc.constantFrom(
  ',"pseq":',
  '","pseq":1,"',
  ',"type":',
  "\\",
  '"',
  "ä\u2028",
  "💡",
);
const text = fc
  .array(fc.oneof(misleading, fc.string({ unit: "grapheme" })), { maxLength: 4 })
  .map((parts) => parts.join(""));
const name = fc.oneof(
  fc.constantFrom("pseq", "type", "prod", "t_log"),
  fc.stringMatching(/^[a-z_]{1,8}$/),
);
const detail = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    text,
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  ),
}));
/** An event as the schemas of the catalogue let it be. */
const event = fc.record(
  {
    v: fc.constant(1),
    id: fc.uuid(),
    t: fc.constant("2026-11-24T00:00:00.000Z"),
    boot: fc.stringMatching(/^[A-Za-z0-9-]{1,64}$/),
    pseq: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    schema_sha256: fc.stringMatching(/^[0-9a-f]{64}$/),
    type: fc.constantFrom("job.submit", "audit.op.carried"),
    phase: fc.constant("fact"),
    op: fc.uuid(),
    actor: fc.record({ sub: text, kind: fc.constant("user") }),
    object: fc.record({ kind: fc.constant("job"), id: text }),
    detail: fc.dictionary(name, detail.value, { maxKeys: 5 }),
    pii: fc.array(fc.record({ field: text, commitment: text }), { maxLength: 2 }),
    src: fc.record({ addr: fc.stringMatching(/^[0-9a-f]{64}$/) }),
    outcome: fc.record({ code: text }),
  },
  {
    requiredKeys: [
      "v",
      "id",
      "t",
      "boot",
      "pseq",
      "schema_sha256",
      "type",
      "phase",
      "op",
      "actor",
      "object",
    ],
  },
);

t.test(
  "a leaf is the canonical form of the event with auditd's two members, and gives the sent bytes back",
  async (t) => {
    t.doesNotThrow(() =>
      checkProperty(
        fc.property(event, (sent) => {
          const bytes = canonicalJson(sent, 6);
          const tLog = "2026-11-24T00:00:01.234Z";
          const leaf = leafOf(Buffer.from(bytes), "coordinator-gate", tLog);
          const expected = canonicalJson({ ...sent, prod: "coordinator-gate", t_log: tLog }, 6);
          if (leaf.toString() !== expected) throw new Error(`${leaf.toString()}\n${expected}`);
          if (sentText(leaf) !== bytes) throw new Error(sentText(leaf));
        }),
        5_000,
      ),
    );
  },
);

t.test("bytes without the members that every event has are no event", async (t) => {
  t.throws(() => leafOf(Buffer.from('{"a":1}'), "p", "2026-11-24T00:00:01.234Z"), RangeError);
});
