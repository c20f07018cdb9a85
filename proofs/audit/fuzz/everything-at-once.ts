/**
 * A log in which nearly every limit of the judges is reached, and none passed, so that all they remember they remember at once: their limits are in operations.ts,
 * sequences.ts, releases.ts, issued-urls.ts, multipart-uploads.ts, members-words.ts, placements.ts, disclosures.ts, timeline.ts, known.ts and verify.ts. Of a million
 * placements it has the quarter, which take a quarter of their memory, 2 MiB of 8.
 */
import { SCHEMA_SHA256 } from "@resontech/verifier/judge";
import { canonicalText } from "./change-json.ts";
import { fact, forged, START_MS } from "./facts.ts";
import { type ForgedLog, HONEST, ORIGIN } from "./forged-log.ts";
import { sha256 } from "./merkle.ts";
import { fullRelease } from "./releases.ts";

const PRODUCERS = 9_999;
const OPERATIONS = 50_000;
const URLS = 300_000;
const UNDER_WAY = 20_000;
const NODES = 9_900;
const WAITING = 10_000;
const PLACED = 250_000;
const MARKED_ENTRIES = 40 * 256;
const ERASED_BY = 10_000;
const ERASURES = 99_000;
const STRETCHES = 10_000;
const KEPT = 19_999;
const KNOWN = 50_000;
const RELEASES = 16;
const SILENCE_MS = 180_000;

const ROOT = Buffer.alloc(32).toString("base64");
const COMMITMENT = "f".repeat(64);
const FIELDS = [
  "bucket-alias",
  "email",
  "hostname",
  "key-name",
  "path",
  "project-name",
  "reason",
  "task-name",
  "username",
];
/** Numbers so long that every entry is read thoroughly, which leaves the most behind. */
const FIRST_PSEQ = 1_000_000_000_000_000;

const long = (text: string): string => text.padEnd(64, "x");
const nodeOf = (at: number): string => `n${at % NODES}`.padEnd(50, "y");
const digest = (text: string): string => sha256(Buffer.from(text)).toString("hex");

export function everythingAtOnce(): ForgedLog {
  const leaves: Buffer[] = [];
  const disclosures = new Map<number, Buffer>();
  const say = (type: string, changes: object): number =>
    leaves.push(fact(leaves.length, type, { pseq: FIRST_PSEQ + leaves.length, ...changes })) - 1;
  const times = (count: number, make: (at: number) => void): void => {
    for (let at = 0; at < count; at++) make(at);
  };
  const member = (type: string, id: string, changes: object): number =>
    say(type, { object: { id, kind: "member" }, ...changes });
  const recorded = (id: string, detail: object): number =>
    member("job.member", id, {
      prod: "coordinator-record",
      // Under others no members are compared.
      schema_sha256: SCHEMA_SHA256,
      detail: {
        job: "j",
        attempt: "a",
        role: "r",
        from: null,
        to: "LEASED",
        generation: 0,
        counter: 0,
        ...detail,
      },
    });

  times(PRODUCERS, (at) =>
    say("audit.producer.start", {
      object: { id: long(`p-${at}`), kind: "producer" },
      detail: { boot: long(`b${at}`), first_pseq: 1 },
    }),
  );
  times(OPERATIONS, (at) =>
    say("audit.op.carried", {
      detail: { type: long(`${at}`), logged_at: new Date(START_MS).toISOString() },
    }),
  );
  times(URLS, (at) =>
    say("data.stage", {
      prod: "coordinator-gate",
      detail: { url_sha256: digest(`url ${at}`), ttl_s: 86_400 },
    }),
  );
  const atDoor = (type: string, detail: object): number =>
    say(type, {
      prod: "s3-front",
      phase: "requested",
      actor: { kind: "system", sub: "coordinator" },
      detail,
    });
  times(UNDER_WAY, (at) => atDoor("data.object.write", { url_sha256: digest(`url ${at}`) }));
  times(UNDER_WAY, (at) =>
    atDoor("data.object.multipart", { upload_sha256: digest(`passed ${at}`), step: "complete" }),
  );
  times(UNDER_WAY, (at) =>
    say("data.upload.complete", {
      prod: "coordinator-gate",
      phase: "requested",
      detail: { upload_sha256: digest(`announced ${at}`) },
    }),
  );
  times(WAITING, (at) =>
    member("job.node.started", long(`w-${at}`), {
      prod: `node-${nodeOf(at)}`,
      detail: { attempt: "a" },
    }),
  );
  times(UNDER_WAY, (at) =>
    recorded(long(`m-${at}`), { attempt: long(`a${at}`), role: "server", node: nodeOf(at) }),
  );
  times(UNDER_WAY, (at) =>
    recorded(long(`m-${at}`), { attempt: long(`a${at}`), from: "STARTING", to: "RUNNING" }),
  );
  times(PLACED, (at) => recorded(`q-${at}`, {}));
  // Their lines go with whole bundles of entries.
  while (leaves.length % 256 !== 0) say("key.list", {});
  times(MARKED_ENTRIES / 256, (bundle) => {
    const lines: string[] = [];
    times(256, (at) => {
      const index = say("key.list", {
        pii: FIELDS.map((field) => ({ field, commitment: COMMITMENT })),
      });
      for (const [slot, field] of FIELDS.entries()) {
        const by = ((bundle * 256 + at) * FIELDS.length + slot) % ERASED_BY;
        const erased = { index: 0, origin: `${by}`.padEnd(200, "o") };
        lines.push(
          `${canonicalText({ commitment: COMMITMENT, erased, field: `pii.${field}`, index })}\n`,
        );
      }
    });
    disclosures.set(leaves.length / 256 - 1, Buffer.from(lines.join("")));
  });
  times(ERASURES, (at) =>
    say("privacy.erasure", {
      phase: "completed",
      detail: {
        erased: [
          { origin: ORIGIN, commitments_count: 1, commitments_root: digest(`erasure ${at}`) },
        ],
      },
    }),
  );
  const fromMs = START_MS + leaves.length;
  times(STRETCHES, (at) => {
    const time = new Date(fromMs + at * SILENCE_MS).toISOString();
    say("key.list", { t: time, t_log: time });
  });

  const note = {
    ...HONEST,
    root: ROOT,
    lines: [...HONEST.lines, { ...HONEST.lines[0]!, key: "witness1" as const }],
  };
  return forged({
    leaves,
    disclosures,
    kept: Array.from({ length: KEPT }, (_, at) => ({
      size: at + 1,
      note: { ...note, size: String(at + 1) },
    })),
    policy: [{ key: "ed25519", as: "log" }, { key: "witness1", as: "witness" }, "quorum witness1"],
    known: [
      Buffer.from(Array.from({ length: KNOWN }, (_, at) => `${ORIGIN}\n${at}\n${ROOT}\n`).join("")),
    ],
    releases: Array.from({ length: RELEASES }, (_, at) => fullRelease(at)),
    nonce: COMMITMENT,
    sample: { count: "10000", filter: "" },
  });
}
