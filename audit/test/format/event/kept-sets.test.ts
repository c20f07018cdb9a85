/** Schema sets of earlier releases: what their producers send is taken, under the name of their own set. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_TYPES, leafSchema } from "@resontech/contracts/audit-catalogue";
import t from "tap";
import { presentSet } from "../../../build/keep-schema-set.ts";
import { evaluateContent, readBytes } from "@resontech/auditd/decisions/read-event";
import { canonicalJson } from "../../../src/format/event/canonical-json.ts";
import { composeEvent } from "../../../src/format/event/compose-event.ts";
import { SCHEMA_SHA256 } from "../../../src/format/event/schema-digest.ts";
import {
  KEPT_SETS,
  KeptSchemas,
  type KeptSet,
  leafSchemasOf,
} from "../../../src/format/event/kept-sets.ts";
import { keyList } from "../../helper/event-drafts.ts";

const NO_DETAIL = { type: "object", properties: {}, additionalProperties: false };
const nameOf = (set: KeptSet): string =>
  createHash("sha256")
    .update(canonicalJson(leafSchemasOf(set), 32))
    .digest("hex");
const plain = (schema: object): unknown => JSON.parse(JSON.stringify(schema));

/** A release whose `key.list` said no count, and which had no `key.renew`. */
function earlierSet(): { sha256: string; kept: KeptSchemas } {
  const { shared, types } = presentSet("0.0.9");
  const { "key.renew": _later, ...others } = types;
  const set = {
    release: "0.0.9",
    shared,
    types: { ...others, "key.list": { ...types["key.list"]!, detail: NO_DETAIL } },
  };
  const sha256 = nameOf(set);
  return { sha256, kept: new KeptSchemas({ [sha256]: set }) };
}

function judge(changes: Record<string, unknown>, kept?: KeptSchemas) {
  const { event } = composeEvent({ ...keyList(), phase: "fact" }, { boot: "b", pseq: 1 });
  const bytes = Buffer.from(canonicalJson({ ...(JSON.parse(event) as object), ...changes }, 8));
  const read = readBytes(bytes);
  if (!("read" in read)) throw new Error(read.refusal.message);
  return evaluateContent(read.read, Buffer.alloc(0), kept);
}

t.test(
  "a kept set has the name that its schemas give it, and no type of it has gone since",
  async (t) => {
    t.ok(Object.keys(KEPT_SETS).length > 0);
    for (const [sha256, set] of Object.entries(KEPT_SETS)) {
      t.equal(nameOf(set), sha256, set.release);
      t.same(
        Object.keys(set.types).filter((type) => !(EVENT_TYPES as string[]).includes(type)),
        [],
        `${set.release}: a type stays, because its producers may still send it`,
      );
    }
  },
);

t.test("the set of the version that package.json names is kept", async (t) => {
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../../../package.json"), "utf8"),
  ) as {
    version: string;
  };
  const isKept =
    Object.hasOwn(KEPT_SETS, SCHEMA_SHA256) || new KeptSchemas().releases.includes(version);
  t.ok(isKept, `run: node audit/build/keep-schema-set.ts ${version}`);
});

t.test("a set as it is kept is whole", async (t) => {
  const set = presentSet("next");
  t.equal(nameOf(set), SCHEMA_SHA256);
  for (const type of EVENT_TYPES) t.same(leafSchemasOf(set)[type], plain(leafSchema(type)), type);
});

t.test("an event of an earlier set is taken and keeps the name of its set", async (t) => {
  const { sha256, kept } = earlierSet();
  t.match(judge({ schema_sha256: sha256 }, kept), { event: { schema_sha256: sha256 } });
  t.match(judge({ schema_sha256: SCHEMA_SHA256 }, kept), {
    event: { schema_sha256: SCHEMA_SHA256 },
  });
});

t.test("it is judged by that very set", async (t) => {
  const { sha256, kept } = earlierSet();
  t.match(judge({ schema_sha256: sha256, type: "key.renew" }, kept), {
    refusal: { reason: "schema", message: /no type key.renew/ },
  });
  t.match(judge({ schema_sha256: sha256, detail: { count: 1 } }, kept), {
    refusal: { reason: "schema" },
  });
  t.match(
    judge({ detail: { count: 1 } }, kept),
    { event: { detail: { count: 1 } } },
    "the present set has it",
  );
  t.match(judge({ schema_sha256: sha256, extra: 1 }, kept), { refusal: { reason: "schema" } });
  t.match(
    judge({ schema_sha256: sha256, prod: "someone" }, kept),
    { refusal: { reason: "schema" } },
    "auditd says who sent it",
  );
  t.match(judge({ schema_sha256: sha256, type: "toString" }, kept), {
    refusal: { reason: "type" },
  });
});

t.test("a set that is not known is refused by name, whatever type it speaks of", async (t) => {
  const { kept } = earlierSet();
  const newer = "f".repeat(64);
  t.match(judge({ schema_sha256: newer, type: "job.of-a-newer-release" }, kept), {
    refusal: {
      reason: "schema_version",
      message: new RegExp(`schema set ${newer}; .*${SCHEMA_SHA256}.*0.0.9.*newer release`),
    },
  });
  t.match(judge({ schema_sha256: "toString" }, kept), {
    refusal: { reason: "schema_version", message: /no schema set/ },
  });
});
