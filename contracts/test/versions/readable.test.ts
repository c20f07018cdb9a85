import fc from "fast-check";
import t from "tap";
import { type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import * as agentProtocol from "../../src/agent/agent-protocol.ts";
import * as nodeAudit from "../../src/audit/node-audit.ts";
import { NotReadable, readable, reader, unknownFields } from "../../src/versions/readable.ts";
import * as releaseManifest from "../../src/release/release-manifest.ts";
import * as frontProtocol from "../../src/storage/s3-front-protocol.ts";
import { ApplianceConfig } from "../../src/config/appliance-config.ts";
import { valuesOf, withUnknownFields } from "./values-of.ts";

const closed = { additionalProperties: false } as const;

/** Of everything that another release may have written: all messages of these protocols, and the files that outlive a release. */
const SCHEMAS: [name: string, schema: TSchema][] = [
  ...[agentProtocol, nodeAudit, frontProtocol, releaseManifest].flatMap((module) =>
    Object.entries(module).filter(isSchema),
  ),
  ["ApplianceConfig", ApplianceConfig],
];

function isSchema(entry: [string, unknown]): entry is [string, TSchema] {
  const [, value] = entry;
  return (
    typeof value === "object" &&
    value !== null &&
    ("anyOf" in value || ("type" in value && value.type === "object"))
  );
}

function hasObjects(schema: TSchema): boolean {
  return JSON.stringify(schema).includes('"properties"');
}

t.test(
  "of each schema a message with unknown fields is read as the same message without them",
  async (t) => {
    t.ok(SCHEMAS.length > 40, `${SCHEMAS.length} schemas`);
    for (const [name, schema] of SCHEMAS) {
      const read = reader(schema);
      fc.assert(
        fc.property(valuesOf(schema), (value) => {
          const sent: unknown = JSON.parse(JSON.stringify(value));
          if (!Value.Check(schema, sent)) throw new Error(`not a message: ${JSON.stringify(sent)}`);
          const newer: unknown = JSON.parse(JSON.stringify(withUnknownFields(schema, sent)));
          const found = [read(sent), read(newer)].map((one) => JSON.stringify(sorted(one)));
          const expected = JSON.stringify(sorted(sent));
          if (found.some((one) => one !== expected))
            throw new Error(`${found.join(" and ")} of ${expected}`);
        }),
        { numRuns: 25 },
      );
      t.pass(name);
    }
  },
);

t.test(
  "what is missing or wrong is refused as before, and the closed schema still refuses the unknown",
  async (t) => {
    for (const [name, schema] of SCHEMAS.filter(([, one]) => hasObjects(one))) {
      const read = reader(schema);
      const [value] = fc.sample(
        valuesOf(schema).filter(
          (one) => typeof one === "object" && one !== null && Object.keys(one).length > 0,
        ),
        { numRuns: 1, seed: 1 },
      ) as [Record<string, unknown>];
      t.notOk(Value.Check(schema, { ...value, ofANewerRelease: 1 }), `${name} is closed`);
      const [field] = Object.keys(value) as [string];
      t.equal(read({ ...value, [field]: { no: "such value" } }), null, `${name}.${field}`);
    }
  },
);

t.test("limits of size hold for what is known", async (t) => {
  const read = reader(agentProtocol.ReportRequest);
  t.equal(
    read({
      nodeEpoch: { generation: 1, counter: 1 },
      reports: Array.from({ length: 257 }, () => ({})),
    }),
    null,
  );
  const hint = reader(agentProtocol.HintMessage);
  t.same(
    hint({ about: "beat", long: "x".repeat(1_000_000) }),
    { about: "beat" },
    "and nothing unknown is handed on",
  );
});

t.test(
  "names of a record are data: one that does not match is no field of a newer release",
  async (t) => {
    const read = reader(Type.Record(Type.String({ pattern: "^[a-z]+$" }), Type.String(), closed));
    t.same(read({ a: "1" }), { a: "1" });
    t.equal(read({ a: "1", "not a name": "2" }), null);
  },
);

t.test(
  "a union whose objects could be taken for each other is a fault of the schema",
  async (t) => {
    const one = Type.Object({ a: Type.Optional(Type.Number()) }, closed);
    t.throws(
      () => reader(Type.Union([one, Type.Object({ b: Type.Number() }, closed)])),
      NotReadable,
    );
    t.throws(() => readable(Type.Intersect([one, one])), NotReadable);
    const kinds = Type.Union(
      ["a", "b"].map((kind) =>
        Type.Object({ kind: Type.Literal(kind), value: Type.Number() }, closed),
      ),
    );
    t.same(reader(kinds)({ kind: "b", value: 1, more: 2 }), { kind: "b", value: 1 });
    t.equal(reader(kinds)({ kind: "c", value: 1 }), null);
  },
);

t.test("unknown fields are named, for people", async (t) => {
  t.same(unknownFields(Type.Object({ a: Type.Number() }, closed), { a: 1, b: 2 }), ["b"]);
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, one]) => [name, sorted(one)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}
