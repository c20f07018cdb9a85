/** Inputs of up to a hundred MiB that ask for far more than they are: each is judged by the program itself, whose memory and time are measured. */
import { canonicalText } from "./change-json.ts";
import type { Dice } from "./dice.ts";
import { everythingAtOnce } from "./everything-at-once.ts";
import { fact, forged, START_MS } from "./facts.ts";
import { Forge, type ForgedLog, HONEST, OPENINGS, ORIGIN, OTHER_ORIGIN } from "./forged-log.ts";
import { type Input, inputOf } from "./input.ts";
import { fixChecksum, member } from "./members.ts";
import { leafHash, sha256 } from "./merkle.ts";
import type { NoteKeys } from "./note-keys.ts";
import { enveloped } from "./releases.ts";

const MIB = 1_048_576;
const FOREIGN = "f".repeat(64);
/** Of a release's statement, so that its envelope is as long as one may be. */
const STATEMENT_BYTES = 2_350_000;
/** Elements of a list that take more memory than they are long. */
const WIDE = ["{},", "[],", "0,", '"a",', "1.5,"];
const ROOT = Buffer.alloc(32).toString("base64");

export const LARGE_INPUTS = {
  "disclosures of line ends": (forge, dice) =>
    withDisclosures(forge, Buffer.alloc(megabytes(dice), "\n")),
  "disclosures of one string": (forge, dice) =>
    withDisclosures(forge, around('{"commitment":"', megabytes(dice), "a", '"}\n')),
  "disclosures of one array": (forge, dice) =>
    withDisclosures(forge, around('{"a":[', megabytes(dice), "0,", "0]}\n")),
  "disclosures of many values": (forge, dice) => {
    const line = (at: number): string =>
      canonicalText({
        commitment: FOREIGN,
        field: `f${String(at).padStart(9, "0")}`,
        index: 0,
        salt: FOREIGN,
        value: "",
      });
    return withDisclosures(
      forge,
      Buffer.from(
        Array.from({ length: megabytes(dice) / 250 }, (_, at) => `${line(at)}\n`).join(""),
      ),
    );
  },
  "disclosures of long values": (forge, dice) => {
    const line = (at: number): string =>
      canonicalText({
        commitment: FOREIGN,
        field: `f${String(at).padStart(9, "0")}`,
        index: 0,
        salt: FOREIGN,
        value: "x".repeat(65_000),
      });
    return withDisclosures(
      forge,
      Buffer.from(
        Array.from({ length: megabytes(dice) / 66_000 }, (_, at) => `${line(at)}\n`).join(""),
      ),
    );
  },
  "disclosures that are erased by many entries": (forge) => forge.input(erasedByMany()),
  "a member that is longer than the archive": (forge, dice) => {
    const claimed = member("checkpoint", Buffer.alloc(0));
    claimed.header.write(dice.pick(["77777777777", "00000200000"]), 124, "latin1");
    fixChecksum(claimed.header);
    return inputOf(Buffer.concat([claimed.header, Buffer.alloc(megabytes(dice))]), policyOf(forge));
  },
  "known checkpoints of line ends": (forge, dice) =>
    withKnown(forge, Buffer.alloc(64 * MIB, dice.pick(["\n", "\r\n", " "]))),
  "known checkpoints of one line": (forge) => withKnown(forge, around("# ", 60 * MIB, "a", "\n")),
  "many known checkpoints": (forge, dice) => {
    const origin = dice.pick([ORIGIN, "o".repeat(255), "ü".repeat(120)]);
    return withKnown(
      forge,
      Buffer.from(
        Array.from({ length: 50_000 }, (_, at) => `${origin}\n${at}\n${ROOT}\n`).join(""),
      ),
    );
  },
  "a known report that is deep": (forge, dice) =>
    withKnown(forge, around('{"checkpoint":', reportBytes(dice), dice.pick(["[", '{"a":']), "")),
  "a known report that is wide": (forge, dice) =>
    withKnown(
      forge,
      around(
        `{"x":[`,
        reportBytes(dice),
        dice.pick(WIDE),
        `0],"checkpoint":{"origin":"${ORIGIN}","size":1,"root":"${ROOT}"}}`,
      ),
    ),
  "a release that is deep": (forge, dice) =>
    withRelease(forge, around('{"payload":', releaseBytes(dice), dice.pick(["[", '{"a":']), "")),
  "a release that is wide": (forge, dice) =>
    withRelease(forge, around('{"x":[', releaseBytes(dice), dice.pick(WIDE), "0]}")),
  "a release of one string": (forge, dice) =>
    withRelease(
      forge,
      around(
        '{"payloadType":"application/vnd.in-toto+json","payload":"',
        releaseBytes(dice),
        dice.pick(["A", "=", "AA="]),
        '"}',
      ),
    ),
  "a release whose statement is wide": (forge, dice) =>
    withRelease(
      forge,
      enveloped(
        around(
          `{"predicateType":"https://reson.tech/sovereign/release/v1","x":[`,
          STATEMENT_BYTES,
          dice.pick(WIDE),
          `0]}`,
        ),
      ),
    ),
  "a release of many files that are none": (forge, dice) =>
    withRelease(
      forge,
      enveloped(
        around(
          `{"predicateType":"https://reson.tech/sovereign/release/v1","predicate":{"images":[],"tree":[`,
          STATEMENT_BYTES,
          dice.pick(['{"path":"a","sha256":"b"},', `{"path":"a","sha256":"${FOREIGN}"},`, ...WIDE]),
          `0]}}`,
        ),
      ),
    ),
  "a policy of many lines": (forge, dice) =>
    inputOf(
      smallArchive(forge),
      Buffer.alloc(dice.pick([262_144, 60 * MIB]), dice.pick(["\n", "# \n", "a "])),
    ),
  "many checkpoints": (forge) => forge.input(manyCheckpoints()),
  "announced times of line ends": (forge, dice) =>
    withDowntime(forge, Buffer.alloc(dice.pick([262_144, 60 * MIB]), dice.pick(["\n", "a ", " "]))),
  "announced times and silences": (forge, dice) => {
    const line = `2001-01-01T00:00Z 2001-01-0${1 + dice.below(9)}T00:01Z\n`;
    // Each silence is in the last of them alone.
    const lines = `${line.repeat(dice.pick([2_000, 260_000, 30 * MIB]) / line.length)}2000-01-01T00:00Z 2099-01-01T00:00Z\n`;
    return { ...forge.input(silences(11_000)), downtime: Buffer.from(lines) };
  },
  "entries of nothing": (forge) =>
    forge.input(forged({ leaves: Array.from({ length: 300_000 }, () => Buffer.alloc(0)) })),
  "three levels of tiles": (forge, dice) =>
    forge.input(
      forged({
        leaves: Array.from({ length: 65_536 + dice.pick([-1, 0, 1, 300]) }, (_, at) =>
          fact(at, "key.list"),
        ),
      }),
    ),
  "operations and URLs without end": (forge) => forge.input(operationsAndUrls()),
  "long values that the judges keep": (forge) => forge.input(longValues()),
  "everything at once": (forge) => forge.input(everythingAtOnce()),
  "a proof that is long": (forge, dice) =>
    inputOf(around("c2sp.org/tlog-proof@v1\nextra ", megabytes(dice), "A", "\n"), policyOf(forge)),
} as const satisfies Record<string, (forge: Forge, dice: Dice) => Input>;
export type LargeKind = keyof typeof LARGE_INPUTS;

export function largeInput(kind: LargeKind, keys: NoteKeys, dice: Dice): Input {
  return LARGE_INPUTS[kind](new Forge(keys, dice), dice);
}

/** Up to the longest member that an export may have. */
function megabytes(dice: Dice): number {
  return dice.pick([30, 100, 127]) * MIB;
}

/** Of a release: as long as one may be, and longer. */
function releaseBytes(dice: Dice): number {
  return dice.pick([3, 16]) * MIB - 200;
}

/** Of a known report: as long as one may be, and longer. */
function reportBytes(dice: Dice): number {
  return dice.pick([3, 16]) * MIB - 200;
}

function around(before: string, bytes: number, what: string, after: string): Buffer {
  return Buffer.concat([
    Buffer.from(before),
    Buffer.alloc(bytes - (bytes % what.length), what),
    Buffer.from(after),
  ]);
}

function policyOf(forge: Forge): Buffer {
  return forge.policy(forged({}));
}

function smallArchive(forge: Forge): Buffer {
  return forge.archive(forged({}));
}

function withKnown(forge: Forge, known: Buffer): Input {
  return inputOf(smallArchive(forge), policyOf(forge), { known: [known] });
}

function withRelease(forge: Forge, release: Buffer): Input {
  return inputOf(smallArchive(forge), policyOf(forge), { releases: [release] });
}

function withDowntime(forge: Forge, downtime: Buffer): Input {
  return inputOf(smallArchive(forge), policyOf(forge), { downtime });
}

function withDisclosures(forge: Forge, text: Buffer): Input {
  return forge.input(forged({ disclosures: new Map([[0, text]]) }));
}

/** Each entry commits to as many values as one can, each of which is marked as erased by one of ten thousand entries. */
function erasedByMany(): ForgedLog {
  const names = [
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
  const pii = names.map((field) => ({ field, commitment: OPENINGS[0]!.commitment }));
  const leaves = Array.from({ length: 60 * 256 }, (_, at) => fact(at, "key.list", { pii }));
  const disclosures = new Map<number, Buffer>();
  let marked = 0;
  for (let bundle = 0; bundle < leaves.length / 256; bundle++) {
    const lines: string[] = [];
    for (let index = bundle * 256; index < (bundle + 1) * 256; index++)
      for (const name of names) {
        const erased = { index: marked++ % 10_000, origin: OTHER_ORIGIN };
        lines.push(
          `${canonicalText({ commitment: OPENINGS[0]!.commitment, erased, field: `pii.${name}`, index })}\n`,
        );
      }
    disclosures.set(bundle, Buffer.from(lines.join("")));
  }
  return forged({ leaves, disclosures });
}

/** Kept ones, each as long as a note may be, by strangers' lines. */
function manyCheckpoints(): ForgedLog {
  const leaves = Array.from({ length: 2_500 }, (_, at) => fact(at, "key.list"));
  const line = { key: "ed25519", timeS: 0n, form: "sound" } as const;
  const note = {
    ...HONEST,
    lines: [line, { ...line, key: "otherEd25519", form: "long" }],
  } as const;
  const root = sha256(leafHash(leaves[0]!)).toString("base64");
  const kept = leaves.slice(1).map((_, at) => ({
    size: at + 1,
    note: { ...note, root, size: String(at + 1), lines: [...note.lines] },
  }));
  return forged({ leaves, kept });
}

/** An entry every three minutes. */
function silences(count: number): ForgedLog {
  const leaves = Array.from({ length: count }, (_, at) => {
    const time = new Date(START_MS + at * 180_000).toISOString();
    return fact(at, "key.list", { t: time, t_log: time });
  });
  return forged({ leaves });
}

/** As many as the judges remember, and more: their limits are in operations.ts and issued-urls.ts. */
function operationsAndUrls(): ForgedLog {
  const carried = { type: "x".repeat(64), logged_at: new Date(START_MS).toISOString() };
  const issued = (at: number): object => ({
    url_sha256: at.toString(16).padStart(32, "0").padEnd(64, "0"),
    ttl_s: 9_000_000_000,
  });
  const operations = Array.from({ length: 51_000 }, (_, at) =>
    fact(at, "audit.op.carried", { detail: carried }),
  );
  const urls = Array.from({ length: 301_000 }, (_, at) =>
    fact(operations.length + at, "data.stage", { prod: "coordinator-gate", detail: issued(at) }),
  );
  return forged({ leaves: [...operations, ...urls] });
}

/** What a judge remembers of an entry under schemas that it does not know may be as long as an entry. */
function longValues(): ForgedLog {
  const long = (at: number): string => `${at}`.padEnd(12_000, "x");
  const kinds = [
    (at: number) =>
      fact(at, "audit.op.carried", {
        detail: { type: long(at), logged_at: new Date(START_MS).toISOString() },
      }),
    (at: number) =>
      fact(at, "audit.producer.start", {
        object: { id: `p-${at}`, kind: "producer" },
        detail: { boot: long(at), first_pseq: 1 },
      }),
    (at: number) =>
      fact(at, "data.stage", {
        prod: "coordinator-gate",
        detail: { url_sha256: long(at), ttl_s: 9_000_000_000 },
      }),
    (at: number) =>
      fact(at, "audit.heartbeat", { detail: { away: at % 3 === 2 ? [] : [long(at - (at % 3))] } }),
    (at: number) =>
      fact(at, "privacy.erasure", {
        phase: "completed",
        detail: { erased: [{ origin: ORIGIN, commitments_root: long(at) }] },
      }),
  ];
  return forged({
    leaves: Array.from({ length: 10_000 }, (_, at) =>
      kinds[at % 4 === 0 ? 3 : at % kinds.length]!(at),
    ),
  });
}
