/** Changes of a log that is signed by the fuzzer's own keys after each. */
import { changeBytes, NUMBERS } from "./change-bytes.ts";
import { canonicalText, changeJson } from "./change-json.ts";
import { changeLines } from "./change-lines.ts";
import type { Dice } from "./dice.ts";
import {
  committed,
  ERASURE,
  FOREIGN,
  type Leaf,
  NONCE,
  SAID_BY_SEVERAL,
  T,
  TEMPLATES,
} from "./forged-entries.ts";
import {
  erasedRoot,
  Forge,
  type ForgedLog,
  type ForgedProof,
  HONEST,
  type Note,
  OPENINGS,
  ORIGIN,
  OTHER_ORIGIN,
} from "./forged-log.ts";
import { inputOf } from "./input.ts";
import type { Kind } from "./kind.ts";
import { changeReleases } from "./releases.ts";
import {
  type KeyName,
  type Line,
  LOG_KEYS,
  type NoteKeys,
  STRANGE_KEYS,
  WITNESS_NAMES,
} from "./note-keys.ts";
import { sha256 } from "./merkle.ts";

const MAX_LEAF = 65_535;
const MAX_OF_A_PROOF = 40;
const MAX_LEAVES = 1_000;
const MAX_KEPT = 40;
const MAX_LOG_BYTES = 1_048_576;
const WIDTHS = [0, 1, 2, 255, 256, 257, 511, 512, 513];
const WITNESSES = Object.keys(WITNESS_NAMES) as KeyName[];
const TIMES = [
  0n,
  1n,
  1_790_000_000n,
  8_640_000_000_000n,
  8_640_000_000_001n,
  2n ** 53n - 1n,
  2n ** 53n,
  2n ** 64n - 1n,
];

/** @param logs texts of the entries of real logs */
export function forgedKinds(
  logs: readonly (readonly string[])[],
  keys: NoteKeys,
): Record<string, Kind<ForgedLog>> {
  const values = logs.map((leaves) => leaves.map((leaf) => JSON.parse(leaf) as Leaf));
  const all = values.flat();
  const begin = (dice: Dice): ForgedLog => {
    const log = dice.pick(values);
    const from = dice.chance(0.7) ? 0 : dice.below(log.length);
    const leaves = log.slice(from, from + 1 + dice.size(250)).map(bytesOf);
    const note: Note = { ...HONEST, lines: LOG_KEYS.slice(0, dice.chance(0.3) ? 2 : 1).map(sound) };
    const witnesses = dice.chance(0.4) ? WITNESSES.filter(() => dice.chance(0.6)) : [];
    return {
      ...{
        origin: ORIGIN,
        leaves,
        kept: [],
        disclosures: new Map(),
        known: [],
        knownSizes: [],
        erasures: [],
      },
      releases: [],
      ...{ downtime: null, nonce: null, sample: null },
      note: { ...note, lines: [...note.lines, ...witnesses.map(sound)] },
      policy: [
        ...note.lines.map(({ key }) => ({ key, as: "log" as const })),
        ...witnesses.map((key) => ({ key, as: "witness" as const })),
        `quorum ${witnesses[0] ?? "none"}`,
      ],
    };
  };
  const change = (log: ForgedLog, dice: Dice): ForgedLog =>
    shortened(dice.weighted(CHANGES)(log, dice, all));
  return {
    forged: { begin, change, input: (log, dice) => new Forge(keys, dice).input(log) },
    "forged proof": {
      begin: (dice) => {
        const log = begin(dice);
        return { ...log, erasures: [proofOf(log.leaves.slice(0, MAX_OF_A_PROOF), ORIGIN, dice)] };
      },
      change: (log, dice) =>
        dice.chance(0.7)
          ? { ...log, erasures: log.erasures.map((proof) => changeProof(proof, dice, all)) }
          : changePolicy(log, dice),
      input: (log, dice) => {
        const forge = new Forge(keys, dice);
        return inputOf(forge.proof(log.erasures[0]!), forge.policy(log));
      },
    },
  };
}

/** Changes of changes would grow without end. */
function shortened(log: ForgedLog): ForgedLog {
  let left = MAX_LOG_BYTES;
  return {
    ...log,
    leaves: log.leaves.slice(0, MAX_LEAVES).filter(({ length }) => (left -= length) > 0),
    kept: log.kept.slice(0, MAX_KEPT),
    disclosures: new Map(
      [...log.disclosures].map(([bundle, text]) => [bundle, text.subarray(0, MAX_LOG_BYTES)]),
    ),
  };
}

type Change = (log: ForgedLog, dice: Dice, all: readonly Leaf[]) => ForgedLog;

const CHANGES: readonly (readonly [number, Change])[] = [
  [14, (log, dice, all) => inOneLeaf(log, dice, (leaf) => changedLeaf(leaf, dice, all))],
  [
    8,
    (log, dice, all) =>
      withLeaf(log, dice, bytesOf({ ...dice.pick(all), ...dice.pick(TEMPLATES)(dice) })),
  ],
  [
    6,
    (log, dice, all) => {
      const template = { ...dice.pick(all), ...dice.pick(TEMPLATES)(dice), schema_sha256: FOREIGN };
      return withLeaf(log, dice, changedLeaf(bytesOf(template), dice, all));
    },
  ],
  [
    6,
    (log, dice, all) => {
      let grown = log;
      for (let left = dice.size(12); left > 0; left--)
        grown = withLeaf(
          grown,
          dice,
          bytesOf({ ...dice.pick(all), ...dice.pick(SAID_BY_SEVERAL)(dice) }),
        );
      return grown;
    },
  ],
  [
    2,
    (log, dice) =>
      inOneLeaf(log, dice, (leaf) => changeBytes(leaf, dice, []).subarray(0, MAX_LEAF)),
  ],
  [1, (log, dice) => inOneLeaf(log, dice, () => dice.pick(GARBAGE)(dice).subarray(0, MAX_LEAF))],
  [2, (log, dice) => ({ ...log, leaves: reordered(log.leaves, dice) })],
  [1, (log, dice) => ({ ...log, leaves: ofWidth(log.leaves, dice.pick(WIDTHS)) })],
  [2, (log, dice) => ({ ...log, note: changeNote(log.note, dice) })],
  [1, (log, dice) => ({ ...log, origin: dice.pick([...ORIGINS, ORIGIN]) })],
  [
    4,
    (log, dice) => {
      const size = 1 + dice.below(log.leaves.length);
      const note = dice.chance(0.6) ? log.note : changeNote(log.note, dice);
      return {
        ...log,
        kept: [...log.kept, { size, note }].sort((a, b) =>
          dice.chance(0.05) ? 1 : a.size - b.size,
        ),
      };
    },
  ],
  [
    1,
    (log, dice) => ({
      ...log,
      kept: log.kept.map((one) => ({ ...one, note: changeNote(one.note, dice) })),
    }),
  ],
  [
    3,
    (log, dice) =>
      disclosed(log, dice.below(Math.ceil(log.leaves.length / 256)), {
        index: 0,
        origin: log.origin,
      }),
  ],
  [4, erase],
  [
    4,
    (log, dice) => {
      const disclosures = new Map(log.disclosures);
      for (const [bundle, text] of disclosures)
        disclosures.set(bundle, changedDisclosures(text, dice));
      return { ...log, disclosures };
    },
  ],
  [5, (log, dice) => changePolicy(log, dice)],
  [
    2,
    (log, dice) => ({
      ...log,
      knownSizes: [...log.knownSizes, dice.below(log.leaves.length + 1)].slice(-8),
    }),
  ],
  [
    2,
    (log, dice, all) => ({
      ...log,
      erasures: log.erasures.map((proof) => changeProof(proof, dice, all)),
    }),
  ],
  [4, (log, dice) => ({ ...log, releases: changeReleases(log.releases, dice) })],
  [
    1,
    (log, dice) => ({
      ...log,
      downtime: dice.pick([
        "",
        "2000-01-01T00:00Z 2099-01-01T00:00Z\n",
        "2026-11-01T00:00Z 2026-11-30T00:00Z\n",
        "x",
      ]),
    }),
  ],
  [
    2,
    (log, dice) => ({
      ...log,
      nonce: NONCE,
      sample: dice.chance(0.5) ? { count: "25", filter: dice.pick(["", "type=key.list"]) } : null,
    }),
  ],
];

const ORIGINS = [
  "a",
  "__proto__",
  "a b",
  "\u202e\u200b",
  "o".repeat(255),
  "o".repeat(256),
  "ü".repeat(127),
  "\ud83d\ude00".repeat(63),
  "",
  "constructor",
];

const sound = (key: KeyName): Line => ({ key, timeS: 1_790_000_000n, form: "sound" });

function changedLeaf(leaf: Buffer, dice: Dice, all: readonly Leaf[]): Buffer {
  let value: unknown;
  try {
    value = JSON.parse(leaf.toString());
  } catch {
    value = dice.pick(all);
  }
  // Under schemas of another release the content of an entry is not checked: more of the judges can be reached.
  const object = typeof value === "object" && value !== null ? (value as Leaf) : {};
  const from = dice.chance(0.7) ? { ...object, schema_sha256: FOREIGN } : object;
  const others = Array.from({ length: 3 }, () => dice.pick(all));
  if (dice.chance(0.7))
    return clipped(
      canonicalText({ ...from, detail: changeJson(from["detail"] ?? {}, dice, others) }),
    );
  return clipped(canonicalText(changeJson(from, dice, others)));
}

function clipped(text: string): Buffer {
  return Buffer.from(text).subarray(0, MAX_LEAF);
}

function bytesOf(leaf: Leaf): Buffer {
  return clipped(canonicalText(leaf));
}

type Marked = { index: number; field: string; commitment: string };

/** Lines that open what the leaves of a bundle commit to, in order; every third value is marked as erased by the entry that is named. */
function linesOf(
  log: ForgedLog,
  bundle: number,
  by: { index: number; origin: string },
): (Marked & Record<string, unknown>)[] {
  return log.leaves.slice(bundle * 256, (bundle + 1) * 256).flatMap((leaf, at) => {
    const text = leaf.toString();
    const index = bundle * 256 + at;
    return OPENINGS.map((opening, number) => ({ ...opening, isErased: number % 3 === 0 }))
      .filter(({ commitment }) => text.includes(commitment))
      .toSorted((a, b) => (a.field < b.field ? -1 : 1))
      .map(({ field, commitment, salt, value, isErased }) =>
        isErased
          ? { commitment, erased: by, field, index }
          : { commitment, field, index, salt, value },
      );
  });
}

function disclosed(
  log: ForgedLog,
  bundle: number,
  by: { index: number; origin: string },
): ForgedLog {
  const text = linesOf(log, bundle, by)
    .map((line) => `${canonicalText(line)}\n`)
    .join("");
  return { ...log, disclosures: new Map(log.disclosures).set(bundle, Buffer.from(text)) };
}

/** What an erasure says that ended the values that are marked so. */
function stated(log: ForgedLog): Record<string, unknown> {
  const bundles = Array.from({ length: Math.ceil(log.leaves.length / 256) }, (_, bundle) => bundle);
  const erased = bundles
    .flatMap((bundle) => linesOf(log, bundle, { index: 0, origin: "" }))
    .filter((line) => "erased" in line);
  return {
    origin: log.origin,
    commitments_count: erased.length,
    commitments_root: erasedRoot(erased),
  };
}

/** Entries that commit to values, the erasure of some, here or in the next shard, and what is disclosed of them. */
function erase(log: ForgedLog, dice: Dice, all: readonly Leaf[]): ForgedLog {
  const leaves = [...log.leaves];
  const [, time = T] = /"t_log":"([^"]*)"/.exec(leaves.at(-1)?.toString() ?? "") ?? [];
  const like: Leaf = { ...dice.pick(all), t_log: time };
  for (let left = 1 + dice.size(6); left > 0; left--)
    leaves.push(
      bytesOf({
        ...like,
        type: "key.list",
        phase: "fact",
        ...committed(dice.pick(OPENINGS)),
        schema_sha256: FOREIGN,
      }),
    );
  const grown: ForgedLog = { ...log, leaves };
  const erasure = { ...ERASURE, detail: { erased: [stated(grown)] } };
  const isHere = dice.chance(0.5);
  const by = isHere
    ? { index: leaves.length, origin: log.origin }
    : { index: 0, origin: OTHER_ORIGIN };
  if (isHere) leaves.push(bytesOf({ ...like, ...erasure }));
  else {
    const elsewhere = bytesOf({ ...like, ...erasure });
    const leaf = dice.chance(0.3) ? changedLeaf(elsewhere, dice, all) : elsewhere;
    const proof: ForgedProof = {
      ...proofOf([leaf, ...leaves.slice(0, dice.below(9))], OTHER_ORIGIN, dice),
      index: "0",
    };
    grown.erasures = [...log.erasures, proof].slice(-3);
    if (dice.chance(0.8)) grown.policy = withOtherLog(log);
  }
  const bundles = Array.from({ length: Math.ceil(leaves.length / 256) }, (_, bundle) => bundle);
  return bundles.reduce((one, bundle) => disclosed(one, bundle, by), grown);
}

function changedDisclosures(text: Buffer, dice: Dice): Buffer {
  const lines = text.toString().split("\n").slice(0, -1);
  if (lines.length === 0 || dice.chance(0.4)) return changeLines(text, dice, [text]);
  const at = dice.below(lines.length);
  try {
    lines[at] = canonicalText(
      changeJson(JSON.parse(lines[at]!), dice, [JSON.parse(dice.pick(lines))]),
    );
  } catch {
    lines[at] = "{}";
  }
  return Buffer.from(`${lines.join("\n")}\n`);
}

function proofOf(leaves: Buffer[], origin: string, dice: Dice): ForgedProof {
  return {
    origin,
    leaves,
    index: String(dice.below(leaves.length)),
    note: HONEST,
    dropped: 0,
    added: 0,
  };
}

function changeProof(proof: ForgedProof, dice: Dice, all: readonly Leaf[]): ForgedProof {
  return dice.weighted<() => ForgedProof>([
    [
      6,
      () => ({
        ...proof,
        leaves: proof.leaves.map((leaf) =>
          dice.chance(0.5) ? changedLeaf(leaf, dice, all) : leaf,
        ),
      }),
    ],
    [
      2,
      () => ({
        ...proof,
        index: dice.pick([...NUMBERS.slice(0, 20), String(dice.below(proof.leaves.length))]),
      }),
    ],
    [2, () => ({ ...proof, note: changeNote(proof.note, dice) })],
    [1, () => ({ ...proof, dropped: dice.below(5) })],
    [1, () => ({ ...proof, added: dice.pick([1, 10, 63, 64]) })],
    [1, () => ({ ...proof, leaves: [...proof.leaves, dice.pick(GARBAGE)(dice)] })],
  ])();
}

function changeNote(note: Note, dice: Dice): Note {
  const withLine = (line: Line): Note => ({ ...note, lines: [...note.lines, line].slice(-70) });
  const inLine = (change: (line: Line) => Line): Note => {
    const at = dice.below(note.lines.length);
    return { ...note, lines: note.lines.map((line, one) => (one === at ? change(line) : line)) };
  };
  return dice.weighted<() => Note>([
    [2, () => ({ ...note, size: dice.pick(NUMBERS) })],
    [
      1,
      () => ({
        ...note,
        root: dice.pick([sha256(dice.bytes(4)).toString("base64"), "", "AAAA", "A".repeat(44)]),
      }),
    ],
    [1, () => ({ ...note, more: dice.pick(["more\n", "\n", "\n\n", "— x AAAA\n"]) })],
    [6, () => inLine((line) => ({ ...line, timeS: dice.pick(TIMES) }))],
    [
      3,
      () =>
        inLine((line) => ({
          ...line,
          form: dice.pick(["flipped", "cut", "long", "random", "sound"]),
        })),
    ],
    [3, () => withLine(sound(dice.pick([...WITNESSES, ...LOG_KEYS, "otherEd25519"])))],
    [3, () => withLine(sound(dice.pick(STRANGE_KEYS)))],
    [1, () => ({ ...note, lines: note.lines.filter(() => dice.chance(0.7)) })],
    [
      1,
      () => ({
        ...note,
        lines: Array.from(
          { length: dice.pick([16, 64, 65]) },
          () => dice.pick(note.lines) ?? sound("ed25519"),
        ),
      }),
    ],
  ])();
}

function changePolicy(log: ForgedLog, dice: Dice): ForgedLog {
  const { policy } = log;
  const beforeQuorum = (...lines: ForgedLog["policy"]): ForgedLog => ({
    ...log,
    policy: [...lines, ...policy],
  });
  return dice.weighted<() => ForgedLog>([
    [
      4,
      () => {
        // Listed and signed with, so that the key is tried.
        const key = dice.pick([...STRANGE_KEYS, "otherEd25519" as const]);
        const note = {
          ...log.note,
          lines: [
            ...log.note.lines,
            { ...sound(key), form: dice.pick(["sound", "random"] as const) },
          ].slice(-60),
        };
        return { ...log, note, policy: [{ key, as: "log" as const }, ...policy] };
      },
    ],
    [
      4,
      () => {
        const key = dice.pick([...WITNESSES, ...STRANGE_KEYS]);
        const note = {
          ...log.note,
          lines: [...log.note.lines, { ...sound(key), timeS: dice.pick(TIMES) }].slice(-60),
        };
        return {
          ...log,
          note,
          policy: [
            { key, as: "witness" as const },
            ...policy.filter((line) => !isQuorum(line)),
            `quorum ${key}`,
          ],
        };
      },
    ],
    [
      2,
      () => ({
        ...log,
        policy: [...policy.filter((line) => !isQuorum(line)), ...groups(policy, dice)],
      }),
    ],
    [1, () => ({ ...log, policy: policy.filter(() => dice.chance(0.8)) })],
    [
      1,
      () =>
        beforeQuorum(
          dice.pick([
            "group g any",
            "group none all w1",
            "quorum none",
            "witness w1 x",
            "log x+00000000+AA==",
            "# c",
            "\u0085",
            "__proto__ x",
            "log",
          ]),
        ),
    ],
    [
      1,
      () => ({
        ...log,
        policy: [...policy, ...Array.from({ length: 40 }, (_, at) => `group g${at} any witness1`)],
      }),
    ],
  ])();
}

function groups(policy: ForgedLog["policy"], dice: Dice): string[] {
  const names = policy.flatMap((line) =>
    typeof line !== "string" && line.as === "witness" ? [line.key] : [],
  );
  if (names.length === 0) return [`quorum ${dice.pick(["none", "x", "__proto__"])}`];
  const threshold = dice.pick(["any", "all", "1", "2", "0", "99", "-1"]);
  return [`group g ${threshold} ${names.join(" ")}`, "group h any g", "quorum h"];
}

function isQuorum(line: ForgedLog["policy"][number]): boolean {
  return typeof line === "string" && line.startsWith("quorum");
}

function withOtherLog({ policy }: ForgedLog): ForgedLog["policy"] {
  return policy.some((line) => typeof line !== "string" && line.as === "other log")
    ? policy
    : [{ key: "ed25519", as: "other log" }, ...policy];
}

function inOneLeaf(log: ForgedLog, dice: Dice, change: (leaf: Buffer) => Buffer): ForgedLog {
  const at = dice.below(log.leaves.length);
  return { ...log, leaves: log.leaves.map((leaf, one) => (one === at ? change(leaf) : leaf)) };
}

/** Among the others, with the time of the one before, so that the log's time does not go back; or at the end, in its producer's own place. */
function withLeaf(log: ForgedLog, dice: Dice, leaf: Buffer): ForgedLog {
  const isNext = dice.chance(0.5);
  const at = isNext ? log.leaves.length : dice.chance(0.2) ? 0 : dice.below(log.leaves.length + 1);
  const before = (log.leaves[Math.max(0, at - 1)] ?? leaf).toString();
  let text = leaf.toString();
  if (dice.chance(0.8)) text = withMember(text, before, "t_log");
  if (isNext) {
    const [prod = ""] = memberOf(text, "prod") ?? [];
    const last = log.leaves.findLast((one) => one.includes(prod))?.toString() ?? "";
    text = withMember(withMember(text, last, "boot"), last, "pseq").replace(
      /"pseq":([0-9]{1,15})/,
      (_, pseq) => `"pseq":${Number(pseq) + 1}`,
    );
  }
  return { ...log, leaves: log.leaves.toSpliced(at, 0, clipped(text)) };
}

function memberOf(text: string, name: string): RegExpExecArray | null {
  return new RegExp(`"${name}":(?:"[^"]*"|[0-9]+)`).exec(text);
}

/** As another entry has it. */
function withMember(text: string, from: string, name: string): string {
  const [own] = memberOf(text, name) ?? [];
  const [other] = memberOf(from, name) ?? [];
  return own === undefined || other === undefined ? text : text.replace(own, () => other);
}

function reordered(leaves: readonly Buffer[], dice: Dice): Buffer[] {
  const from = dice.below(leaves.length);
  const some = leaves.slice(from, from + 1 + dice.size(20));
  const without = dice.chance(0.5) ? leaves.toSpliced(from, some.length) : [...leaves];
  return without.toSpliced(dice.below(without.length + 1), 0, ...some);
}

function ofWidth(leaves: readonly Buffer[], width: number): Buffer[] {
  return Array.from(
    { length: width },
    (_, at) => leaves[at % Math.max(1, leaves.length)] ?? Buffer.from("{}"),
  );
}

/** Leaves that are none. */
const GARBAGE: readonly ((dice: Dice) => Buffer)[] = [
  () => Buffer.alloc(0),
  () => Buffer.from("[".repeat(MAX_LEAF)),
  () => Buffer.from('{"a":'.repeat(13_000)),
  () => Buffer.from(`"${"\\u0000".repeat(10_000)}"`),
  () => Buffer.from(`"${"\\".repeat(16_000)}`),
  () => Buffer.from("9".repeat(16_384)),
  () => Buffer.from("null"),
  () => Buffer.from("[]"),
  () => Buffer.from("{}"),
  () => Buffer.from('{"__proto__":{}}'),
  () =>
    Buffer.from(
      `{${Array.from({ length: 2_000 }, (_, at) => `"${String(at).padStart(4, "0")}":0`).join(",")}}`,
    ),
  (dice) => dice.bytes(dice.size(2_000)),
  (dice) => Buffer.alloc(dice.pick([16_383, 16_384, 16_385, MAX_LEAF]), " "),
];
