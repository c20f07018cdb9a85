import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import {
  type CatalogueEntry,
  EVENT_CATALOGUE,
  EVENT_TYPES,
} from "@resontech/contracts/audit-catalogue";
import { ACTOR_KINDS } from "@resontech/contracts/audit-event";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import t from "tap";
import { cefLine } from "../src/formats/cef.ts";
import type { ExportedEvent } from "../src/formats/exported-event.ts";
import { leafLine } from "../src/formats/leaf-line.ts";
import { leefLine } from "../src/formats/leef.ts";
import { ocsfEvent } from "../src/formats/ocsf/ocsf-line.ts";

const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, "fixtures/ocsf-1.8.0/schema.json"), "utf8"),
);
const ajv = new Ajv2020({ strict: false, allErrors: true }).addSchema(schema, "ocsf");

/** The public schema of an event's class, with the profile that it says it has. */
function publicSchemaOf({ class_uid, metadata }: Record<string, unknown>): ValidateFunction {
  const [profile] = (metadata as { profiles?: string[] }).profiles ?? [];
  return ajv.compile({
    $ref: `ocsf#/$defs/class-${String(class_uid)}${profile === undefined ? "" : `-${profile}`}`,
  });
}

const ADDRESS = "cd".repeat(32);
const DECISION: AuditEvent["decision"] = {
  ...{ effect: "allow", policy_ids: ["two-people"], policy_set_sha256: ADDRESS },
};
const BY_REQUEST = { approval: "apr-1", requester: "u_1", approvers: ["u_2"], single_person: true };

function exportedOf(changes: Partial<AuditEvent>): ExportedEvent {
  const event: AuditEvent = {
    ...{
      v: 1,
      id: "0190b5a0-0000-7000-8000-000000000001",
      op: "0b5a0000-0000-4000-8000-000000000002",
    },
    ...{
      type: "job.submit",
      phase: "requested",
      t: "2026-03-01T00:00:00.000Z",
      t_log: "2026-03-01T00:00:00.001Z",
    },
    ...{
      prod: "coordinator-gate",
      boot: "boot-1",
      pseq: 1,
      action: "POST /api/tasks",
      schema_sha256: "0".repeat(64),
    },
    actor: { sub: "usr-1", kind: "user", roles: ["researcher", "viewer"] },
    object: { kind: "job", id: "job-1" },
    ...changes,
  };
  return {
    event,
    leaf: JSON.stringify(event),
    index: 41,
    leafHash: "ab".repeat(32),
    origin: "box.audit.acme/2026",
    treeSize: 99,
  };
}

t.test(
  "every type, phase and kind of actor is a valid event of its OCSF 1.8.0 class",
  async (t) => {
    const classes = new Map<string, Record<string, unknown>>();
    for (const type of EVENT_TYPES) {
      const { phases, object }: CatalogueEntry = EVENT_CATALOGUE[type];
      for (const [phase, kind] of phases.flatMap((phase) =>
        ACTOR_KINDS.map((kind) => [phase, kind] as const),
      )) {
        const isOutcome = phase === "completed" || phase === "failed" || phase === "denied";
        const changes = {
          type,
          phase,
          actor: { sub: "x-1", kind, roles: ["lead"], azp: "GK1", sid: ADDRESS },
          ...{
            src: { addr: ADDRESS },
            on_behalf_of: "u_2",
            decision: DECISION,
            detail: BY_REQUEST,
          },
          object: { kind: object, id: "obj-1" },
          ...(isOutcome ? { outcome: { code: "ok" } } : {}),
        };
        const made = JSON.parse(JSON.stringify(ocsfEvent(exportedOf(changes)))) as Record<
          string,
          unknown
        >;
        const isValid = publicSchemaOf(made);
        if (!isValid(made))
          t.fail(`${type} ${phase} by ${kind}: ${ajv.errorsText(isValid.errors)}`);
        classes.set(
          `${String(made["class_uid"])} ${JSON.stringify((made["metadata"] as { profiles?: unknown }).profiles ?? [])}`,
          made,
        );
        t.match(made["unmapped"], {
          log_index: 41,
          leaf_hash: "ab".repeat(32),
          origin: "box.audit.acme/2026",
          tree_size: 99,
        });
      }
    }
    t.same([...classes.keys()].sort(), [
      "1008 []",
      "3001 []",
      "3002 []",
      "3004 []",
      "5019 []",
      '6002 ["host"]',
      '6003 ["ai_operation"]',
      "6003 []",
      "6005 []",
      "6006 []",
    ]);
    for (const [name, valid] of classes) {
      const isValid = publicSchemaOf(valid);
      for (const wrong of [
        { severity_id: 7 },
        { activity_id: 77 },
        { colour: "red" },
        { time: "yesterday" },
        { metadata: { version: "1.8.0" } },
      ])
        t.notOk(isValid({ ...valid, ...wrong }), `${name} with ${JSON.stringify(wrong)}`);
    }
  },
);

t.test("address, roles and approval stand in OCSF's own fields", async (t) => {
  const made = ocsfEvent(
    exportedOf({
      ...{ type: "iam.role.change", phase: "completed", outcome: { code: "ok" } },
      actor: { sub: "u_2", kind: "user", roles: ["platform-admin"], sid: ADDRESS, azp: "GK1" },
      ...{ object: { kind: "user", id: "u_3" }, src: { addr: ADDRESS } },
      ...{ decision: DECISION, detail: { role: "security-officer", ...BY_REQUEST } },
    }),
  );
  t.match(made, {
    src_endpoint: { uid: ADDRESS, svc_name: "coordinator-gate" },
    actor: {
      user: {
        ...{ uid: "u_2", credential_uid: "GK1" },
        groups: [{ name: "platform-admin", type: "role" }],
      },
      session: { uid: ADDRESS },
      authorizations: [
        { decision: "allow", policy: { uid: "two-people", version: ADDRESS } },
        {
          decision: "approved",
          policy: {
            ...{ uid: "apr-1", type: "approval" },
            data: { requester: "u_1", approvers: ["u_2"], single_person: true },
          },
        },
      ],
    },
  });
  t.notMatch(JSON.stringify(made["unmapped"]), /apr-1|u_1|platform-admin/);
  const refused = ocsfEvent(
    exportedOf({
      ...{ type: "auth.refused", phase: "fact", object: { kind: "appliance", id: "appliance" } },
      detail: { reason: "not_found", count: 41, window_s: 60 },
    }),
  );
  t.match(refused, { count: 41, duration: 60_000 });
  const asked = ocsfEvent(
    exportedOf({ type: "iam.approval.request", object: { kind: "approval", id: "apr-1" } }),
  );
  t.match(asked["actor"], { authorizations: [{ policy: { uid: "apr-1" } }] });
  t.notMatch(asked["actor"], { authorizations: [{ decision: "approved" }] });
});

t.test("an event of a type that this release does not know is exported all the same", async (t) => {
  const made = ocsfEvent(exportedOf({ type: "egress.deny" as never }));
  t.ok(publicSchemaOf(made)(JSON.parse(JSON.stringify(made))));
});

t.test("the leaf's bytes stand whole in its line and in OCSF's raw data", async (t) => {
  const exported = exportedOf({});
  t.ok(leafLine(exported).includes(`"leaf":${exported.leaf},`));
  t.same(JSON.parse(leafLine(exported)).leaf, exported.event);
  t.equal(ocsfEvent(exported)["raw_data"], exported.leaf);
});

/** No leaf can hold these, by its schema: the formats hold even if one did. */
const HOSTILE = 'a|b\\c=d\ne\rf\tg"h]i CEF:0|x|y LEEF:2.0|suid=root';
const hostile = exportedOf({
  type: "job|sub\\mit\n" as never,
  actor: { sub: HOSTILE, kind: "user", roles: [HOSTILE] },
  action: HOSTILE,
  object: { kind: "job", id: HOSTILE },
  outcome: { code: HOSTILE },
  phase: "failed",
});

/** As a collector reads CEF: seven unescaped bars, then `key=` at unescaped equal signs. */
function readCef(line: string): { header: string[]; extension: Map<string, string> } {
  const parts = line.match(/(?:\\.|[^|\\])*(?:\||$)/gs) ?? [];
  const header = parts
    .slice(0, 7)
    .map((part) => part.replace(/\|$/, "").replace(/\\([\\|])/g, "$1"));
  const rest = line.slice(parts.slice(0, 7).join("").length);
  const extension = new Map<string, string>();
  for (const [, key = "", value = ""] of rest.matchAll(
    /([A-Za-z0-9]+)=((?:\\.|[^\\=])*?)(?= [A-Za-z0-9]+=|$)/gs,
  ))
    extension.set(
      key,
      value.replace(/\\(.)/g, (_, char: string) => ({ n: "\n", r: "\r" })[char] ?? char),
    );
  return { header, extension };
}

t.test("CEF: nothing in a value ends a field, a line or the header", async (t) => {
  const line = cefLine(hostile);
  t.notMatch(line, /[\r\n]/);
  const { header, extension } = readCef(line);
  t.same(header, [
    "CEF:0",
    "ResonTech",
    "Sovereign Appliance",
    "2",
    "job|sub\\mit ",
    "job|sub\\mit  failed",
    "5",
  ]);
  t.equal(extension.get("suid"), HOSTILE);
  t.equal(extension.get("act"), HOSTILE);
  t.equal(extension.get("cs4"), `job/${HOSTILE}`);
  t.equal(extension.get("cn1"), "41");
  const plain = readCef(cefLine(exportedOf({})));
  t.equal(plain.extension.get("spriv"), "researcher,viewer");
  t.equal(plain.extension.has("outcome"), false, "what an event does not say is left out");
  const approved = readCef(cefLine(exportedOf({ detail: BY_REQUEST })));
  t.equal(approved.extension.get("flexString1"), "apr-1");
  t.equal(approved.extension.get("flexString2"), "u_1/u_2");
  const counted = exportedOf({ detail: { reason: "not_found", count: 41, window_s: 60 } });
  t.equal(readCef(cefLine(counted)).extension.get("cnt"), "41");
});

t.test("LEEF: nothing in a value ends an attribute, a line or the header", async (t) => {
  const line = leefLine(hostile);
  t.notMatch(line, /[\r\n]/);
  const [version, vendor, product, formatVersion, eventId, delimiter, ...rest] = line.split("|");
  t.same(
    [version, vendor, product, formatVersion, eventId, delimiter],
    ["LEEF:2.0", "ResonTech", "Sovereign Appliance", "2", "job_sub\\mit ", "x09"],
  );
  const attributes = new Map(
    rest
      .join("|")
      .split("\t")
      .map(
        (pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)] as const,
      ),
  );
  const unescaped = attributes
    .get("usrName")!
    .replace(/\\(.)/g, (_, char: string) => ({ n: "\n", r: "\r", t: "\t" })[char] ?? char);
  t.equal(unescaped, HOSTILE);
  t.equal(attributes.get("logIndex"), "41");
  t.equal(attributes.size, 17, "what an event does not say is left out");
  const approved = leefLine(exportedOf({ detail: BY_REQUEST, src: { addr: ADDRESS } }));
  for (const pair of ["approval=apr-1", "requester=u_1", "approvers=u_2"])
    t.ok(approved.split("\t").includes(pair), pair);
  t.ok(approved.includes(`sourceCommitment=${ADDRESS}`));
});
