import fc from "fast-check";
import t from "tap";
import catalogue from "../../src/leaf/catalogue.json" with { type: "json" };
import { canonicalJson } from "@resontech/audit/format/event/canonical-json";
import type { Schema } from "../../src/leaf/schema.ts";
import { type Leaf, MAX_LEAF_BYTES } from "../../src/leaf/leaf.ts";
import { plainLeaf } from "../../src/leaf/plain-leaf.ts";
import { readLeaf, readThoroughly } from "../../src/leaf/read-leaf.ts";
import { checkProperty } from "@resontech/house/check-property";

const TYPES = Object.entries(
  catalogue.types as unknown as Record<
    string,
    { phases: string[]; object: string; detail: Schema }
  >,
);
/** Of the members that the judges read. */
const READ = [
  "op",
  "type",
  "phase",
  "t",
  "t_log",
  "prod",
  "boot",
  "pseq",
  "actor",
  "on_behalf_of",
  "src",
  "object",
].concat(...["digests", "pii", "detail", "schema_sha256"]);

/** Values of a schema; integers that are long are rare in entries, and here. */
function valueOf(schema: Schema): fc.Arbitrary<unknown> {
  const {
    anyOf,
    properties = {},
    required = [],
    items = {},
    minItems = 0,
    maxItems = 3,
    minimum = -3,
    maximum = 2 ** 53 - 1,
  } = schema;
  if (anyOf !== undefined) return fc.oneof(...anyOf.map(valueOf));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case "object": {
      const members = Object.entries(properties).map(
        ([name, one]) => [name, valueOf(one)] as const,
      );
      return fc.record(Object.fromEntries(members), { requiredKeys: [...required] });
    }
    case "array":
      return fc.array(valueOf(items), {
        minLength: minItems,
        maxLength: Math.min(maxItems, minItems + 2),
      });
    case "string":
      return schema.pattern === undefined
        ? fc.string()
        : fc.stringMatching(new RegExp(schema.pattern, "u"));
    case "integer":
      return fc.oneof(
        {
          arbitrary: fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1e9) }),
          weight: 30,
        },
        { arbitrary: fc.constantFrom(minimum, maximum), weight: 1 },
      );
    case "boolean":
      return fc.boolean();
    default:
      return fc.constant(null);
  }
}

const shared = valueOf(catalogue.envelope as Schema);
const event = fc.oneof(
  ...TYPES.map(([type, { phases, object, detail }]) =>
    fc
      .tuple(shared, fc.constantFrom(...phases), fc.option(valueOf(detail)))
      .map(([envelope, phase, said]) => {
        const { object: named, ...rest } = envelope as { object: object };
        const t_log = "2026-03-01T08:00:00.000Z";
        const made = { ...rest, type, phase, t_log, object: { ...named, kind: object } };
        return {
          ...made,
          schema_sha256: catalogue.schemaSha256,
          ...(said === null ? {} : { detail: said }),
        };
      }),
  ),
);
const leaf = event.map((one) => Buffer.from(canonicalJson(one, 8)));

/** What differs between the two readings; null where the quick one says nothing, or the same. */
function difference(bytes: Uint8Array): string | null {
  const quick = plainLeaf(
    Buffer.concat([Buffer.from("{"), bytes, Buffer.from("}")]),
    1,
    1 + bytes.length,
  );
  if (quick === null) return null;
  const read = readThoroughly(bytes);
  if ("fault" in read) return `${Buffer.from(bytes).toString()}: ${read.fault}`;
  if (read.isForeign) return "of another release";
  const expected = Object.fromEntries(
    Object.entries(read.leaf).filter(([name]) => READ.includes(name)),
  );
  const found = JSON.parse(JSON.stringify(quick)) as Leaf;
  return canonicalJson(found, 8) === canonicalJson(expected, 8)
    ? null
    : `${JSON.stringify(found)} of ${Buffer.from(bytes).toString()}`;
}

t.test(
  "entries of every type are read quickly, and as the thorough reading has them",
  async (t) => {
    let [quick, all] = [0, 0];
    checkProperty(
      fc.property(leaf, (bytes) => {
        all += 1;
        if (plainLeaf(bytes, 0, bytes.length) !== null) quick += 1;
        const found = difference(bytes);
        if (found !== null) throw new Error(found);
      }),
      3_000,
    );
    t.ok(quick > all / 2, `${quick} of ${all}`);
  },
);

t.test(
  "takes nothing that the thorough reading refuses, whatever an entry is changed into",
  async (t) => {
    const parts = [
      "",
      " ",
      '"',
      ",",
      ":",
      "{",
      "}",
      "[",
      "]",
      "0",
      "-",
      "1",
      "\\",
      "é",
      "\u0000",
      "\u007f",
      "null",
      '"v":1',
      "{}",
      "[]",
      '""',
    ];
    const changed = fc
      .tuple(
        leaf,
        fc.nat(),
        fc.nat(3),
        fc.oneof(fc.constantFrom(...parts), fc.string({ maxLength: 2 })),
      )
      .map(([bytes, at, cut, insert]) => {
        const place = at % (bytes.length + 1);
        return Buffer.concat([
          bytes.subarray(0, place),
          Buffer.from(insert),
          bytes.subarray(place + cut),
        ]);
      });
    const rearranged = fc.tuple(leaf, fc.nat(), fc.nat(), fc.nat()).map(([bytes, ...places]) => {
      const [a, b, c] = places.map((place) => place % (bytes.length + 1)).sort((x, y) => x - y) as [
        number,
        number,
        number,
      ];
      return Buffer.concat([
        bytes.subarray(0, a),
        bytes.subarray(b, c),
        bytes.subarray(a, b),
        bytes.subarray(c),
      ]);
    });
    for (const texts of [changed, rearranged])
      t.doesNotThrow(() =>
        checkProperty(
          fc.property(texts, (bytes) => {
            const found = difference(bytes);
            if (found !== null) throw new Error(found);
          }),
          10_000,
        ),
      );
  },
);

const PLAIN =
  '{"actor":{"kind":"user","sub":"usr-1"},"boot":"b-1","detail":{"input_bytes":1,"inputs":0},"id":"01a20c3e-c56e-7a58-b2e6-8b81b1899c64",' +
  '"object":{"id":"job-1","kind":"job"},"op":"10599c2f-9cea-4b98-8982-bb22489d346a","phase":"requested","prod":"p","pseq":7,' +
  `"schema_sha256":"${catalogue.schemaSha256}","t":"2026-03-01T08:00:00.000Z","t_log":"2026-03-01T08:00:00.000Z","type":"job.submit","v":1}`;

function read(text: string): Leaf | null {
  const bytes = Buffer.from(text);
  return plainLeaf(bytes, 0, bytes.length);
}

t.test("leaves to the thorough reading what is wrong, and what is merely rare", async (t) => {
  t.match(read(PLAIN), {
    type: "job.submit",
    phase: "requested",
    pseq: 7,
    detail: { input_bytes: 1, inputs: 0 },
  });
  for (const [from, to] of [
    ["1,", "01,"],
    ["1,", "-1,"],
    ["0}", "-0}"],
    ["0}", "00}"],
    ["1,", "1.0,"],
    ["1,", "1e1,"],
    ["1,", "9007199254740992,"],
    ["1,", ","],
    ["usr-1", "usr\\u002d1"],
    ["usr-1", "usr-é"],
    ["usr-1", "usr-\u0000"],
    ['"v":1', '"v":11'],
    ['"v":1', '"v":1 '],
    ['"v":1', '"v":"1"'],
    ['{"actor"', '{"a":1,"actor"'],
    ['{"actor"', '{"acto":1,"actor"'],
    ['"inputs"', '"input_bytes":1,"inputs"'],
    [',"prod":"p"', ""],
    [',"prod":"p"', ',"prod":"p",'],
    [',"type":"job.submit"', ""],
    [',"phase":"requested"', ""],
    ["job.submit", "job.cancel"],
    ["job.submit", "job.unknown"],
    ["requested", "fact"],
    ['"kind":"job"', '"kind":"key"'],
    ["-03-01T08:00:00.000Z", "-02-30T08:00:00.000Z"],
    [catalogue.schemaSha256, "0".repeat(64)],
  ] as const) {
    t.not(PLAIN.indexOf(from), -1, from);
    t.equal(read(PLAIN.replaceAll(from, to)), null, `${from} → ${to}`);
  }
  t.equal(read(""), null);
  t.equal(read(',"v":1}'), null);
});

t.test(
  "what was read once in a place is read there again, and its beginning or its continuation is not",
  async (t) => {
    for (const kind of ["job", "job", "jo", "jobs", "job"])
      t.equal(read(PLAIN.replace('"kind":"job"', `"kind":"${kind}"`)) !== null, kind === "job");
    for (const sub of ["usr-1", "usr-12", "usr-", "usr-1"])
      t.equal(read(PLAIN.replace("usr-1", sub))?.actor.sub, sub);
    for (const inputs of ["0", "01", "10", "1"])
      t.equal(
        read(PLAIN.replace('"inputs":0', `"inputs":${inputs}`))?.detail?.["inputs"],
        inputs === "01" ? undefined : Number(inputs),
      );
  },
);

t.test("an entry that is too long is refused, plain or not", async (t) => {
  const long = Buffer.from(PLAIN.padStart(MAX_LEAF_BYTES + 1, " "));
  t.strictSame(readLeaf(long), { fault: `longer than ${MAX_LEAF_BYTES} bytes` });
});
