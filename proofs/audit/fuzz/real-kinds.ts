/** Changes of what real logs gave: nothing in them is signed again. */
import type { VerdictName } from "@resontech/verifier/judge";
import { canonicalText, changeJson } from "./change-json.ts";
import { changeBytes, NUMBERS } from "./change-bytes.ts";
import { changeLines, linesOf } from "./change-lines.ts";
import type { Dice } from "./dice.ts";
import { type Input, inputOf, shortened } from "./input.ts";
import type { Kind } from "./kind.ts";
import { fixChecksum, member, nameOf, putTogether, takenApart } from "./members.ts";
import { changeReleases, release, VERSIONS } from "./releases.ts";
import { MEASURED_VERSIONS, type Samples } from "./samples.ts";

const CHUNKS = [512, 700, 4_096, 65_536, 1_048_576];
const SMALL = 65_536;
const TINY = 20_000;

export function realKinds(samples: Samples): Record<string, Kind<Input>> {
  const { exports, proofs, known } = samples;
  // Small ones are judged faster and have the same parts.
  const weights = exports.map((one) => [one.bundle.length < SMALL ? 8 : 1, one] as const);
  const texts = [
    ...exports.map(({ policy }) => policy),
    ...known,
    ...proofs.map(({ proof }) => proof),
  ];
  const others = exports.map(({ bundle }) => bundle);

  const begin = (dice: Dice): Input => {
    const real = dice.weighted(weights);
    return inputOf(real.bundle, real.policy, {
      known: dice.chance(0.2) ? [dice.pick(known)] : [],
      chunkBytes:
        real.bundle.length < TINY && dice.chance(0.1) ? 1 + dice.below(9) : dice.pick(CHUNKS),
      isPiped: dice.chance(0.2),
    });
  };
  const beginWith = (name: RegExp): ((dice: Dice) => Input) => {
    const some = weights.filter(([, one]) => name.test(one.name));
    return (dice) => {
      const real = dice.weighted(some);
      return inputOf(real.bundle, real.policy, { chunkBytes: dice.pick(CHUNKS) });
    };
  };
  const input = (state: Input): Input => state;

  const kinds: Record<string, Kind<Input>> = {
    bytes: {
      begin,
      input,
      change: (state, dice) => ({ ...state, file: changeBytes(state.file, dice, others) }),
    },
    members: {
      begin,
      input,
      change: (state, dice) => ({ ...state, file: changeMembers(state.file, dice, others) }),
    },
    notes: {
      begin: beginWith(/^witnessed$|^few/),
      input,
      change: (state, dice) => ({
        ...state,
        file: changeText(state.file, dice, /^checkpoint/, texts),
      }),
    },
    disclosures: {
      begin: beginWith(/^values/),
      input,
      change: (state, dice) => ({
        ...state,
        file: changeText(state.file, dice, /^disclosures/, texts),
      }),
    },
    policy: {
      begin,
      input,
      change: (state, dice) => ({
        ...state,
        policy: changeAnyText(state.policy ?? texts[0]!, dice, texts),
      }),
    },
    known: {
      begin: (dice) => ({ ...begin(dice), known: [dice.pick(known), dice.pick(known)] }),
      input,
      change: (state, dice) => ({
        ...state,
        known: state.known.map((one) => changeAnyText(one, dice, texts)),
      }),
    },
    releases: {
      begin: (dice) => ({
        ...beginWith(/^witnessed$/)(dice),
        releases: MEASURED_VERSIONS.map(release),
      }),
      input,
      change: (state, dice) => ({ ...state, releases: changeReleases(state.releases, dice) }),
    },
    proof: {
      begin: (dice) => {
        const { proof, policy } = dice.pick(proofs);
        return inputOf(proof, policy);
      },
      input,
      change: (state, dice) => ({
        ...state,
        file: dice.chance(0.3)
          ? changeExtra(state.file, dice)
          : changeAnyText(state.file, dice, texts),
      }),
    },
    options: {
      begin,
      input,
      change: (state, dice) =>
        changeOptions(
          state,
          dice,
          proofs.map(({ proof }) => proof),
        ),
    },
  };
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      name,
      { ...kind, change: (state, dice) => shortened(kind.change(state, dice)) },
    ]),
  );
}

/** Header fields, whole members, and what stands in them; checksums are right again, so that the reader comes to what is behind them. */
function changeMembers(tar: Buffer, dice: Dice, others: readonly Buffer[]): Buffer {
  const { members, rest } = takenApart(tar);
  if (members.length === 0) return changeBytes(tar, dice, others);
  const at = dice.below(members.length);
  const one = members[at]!;
  const behind = dice.chance(0.1) ? changeBytes(rest, dice, others) : rest;
  dice.weighted<() => void>([
    [3, () => void members.splice(at, 1)],
    [3, () => void members.splice(dice.below(members.length + 1), 0, one)],
    [
      2,
      () =>
        void members.splice(
          dice.below(members.length + 1),
          0,
          dice.pick(takenApart(dice.pick(others)).members),
        ),
    ],
    [
      2,
      () => {
        const other = dice.below(members.length);
        [members[at], members[other]] = [members[other]!, one];
      },
    ],
    [
      2,
      () => void (members[at] = member(dice.pick([...members.map(nameOf), ...NAMES]), one.content)),
    ],
    [6, () => void (members[at] = { ...one, header: changedHeader(one.header, dice) })],
    [4, () => void (members[at] = member(nameOf(one), changeBytes(one.content, dice, [])))],
    [1, () => void (members[at] = member(nameOf(one), Buffer.alloc(0)))],
  ])();
  return putTogether(members, behind);
}

const NAMES = [
  ...[
    "",
    "checkpoint",
    "checkpoints/0",
    "checkpoints/-1",
    "checkpoints/01",
    "checkpoints/9007199254740993",
    "checkpoints/",
  ],
  ...[
    "disclosures/000",
    "disclosures/000.p/12",
    "tile/0/000",
    "tile/entries/000",
    "tile/1/000.p/1",
    "__proto__",
    "x".repeat(100),
  ],
];
/** Of ustar: where each field stands. */
const FIELDS = [
  ...[
    [0, 100],
    [100, 8],
    [108, 8],
    [116, 8],
    [124, 12],
    [136, 12],
    [156, 1],
    [157, 100],
    [257, 6],
    [263, 2],
  ],
  ...[
    [265, 32],
    [297, 32],
    [329, 8],
    [337, 8],
    [345, 155],
    [500, 12],
  ],
] as [at: number, length: number][];
const SIZES = [
  "77777777777",
  "00000000000",
  "00000000001",
  "40000000000",
  "-0000000001",
  "0000000001 ",
  "0x000000001",
  "\x80\0\0\0\0\0\0\0\0\0\x01",
];

function changedHeader(header: Buffer, dice: Dice): Buffer {
  const copy = Buffer.from(header);
  const [at, length] = dice.chance(0.4) ? [124, 12] : dice.pick(FIELDS);
  if (at === 124)
    copy.write(
      dice.chance(0.5) ? dice.pick(SIZES) : dice.below(10_000).toString(8).padStart(11, "0"),
      at,
      "latin1",
    );
  else if (at === 156)
    copy.write(dice.pick(["\0", "1", "2", "5", "7", "L", "K", "x", "g", "S"]), at, "latin1");
  else changeBytes(copy.subarray(at, at + length), dice, []).copy(copy, at, 0, length);
  if (dice.chance(0.9)) fixChecksum(copy);
  return copy;
}

/** In one of the members with such a name. */
function changeText(tar: Buffer, dice: Dice, name: RegExp, texts: readonly Buffer[]): Buffer {
  const { members, rest } = takenApart(tar);
  const found = [...members.keys()].filter((at) => name.test(nameOf(members[at]!)));
  if (found.length === 0) return changeBytes(tar, dice, texts);
  const at = dice.pick(found);
  const { content } = members[at]!;
  members[at] = member(nameOf(members[at]!), changeAnyText(content, dice, texts));
  return putTogether(members, rest);
}

function changeAnyText(text: Buffer, dice: Dice, texts: readonly Buffer[]): Buffer {
  if (text.includes("{") && dice.chance(0.6)) return changeJsonLine(text, dice);
  return dice.chance(0.75) ? changeLines(text, dice, texts) : changeBytes(text, dice, texts);
}

function changeJsonLine(text: Buffer, dice: Dice): Buffer {
  const lines = linesOf(text).map((line) => line.toString());
  const values = lines.map(parsed);
  const at = dice.pick([...lines.keys()].filter((one) => values[one] !== undefined));
  if (at === undefined) return changeLines(text, dice, [text]);
  const others = values.filter((value) => value !== undefined).slice(0, 20);
  lines[at] = canonicalText(changeJson(values[at], dice, others));
  return Buffer.from(lines.join("\n"));
}

/** The leaf of a proof. */
function changeExtra(proof: Buffer, dice: Dice): Buffer {
  return Buffer.from(
    proof.toString().replace(/\nextra (\S+)/, (_, extra: string) => {
      const leaf = Buffer.from(extra, "base64");
      const value = parsed(leaf.toString());
      const changed =
        value === undefined || dice.chance(0.3)
          ? changeBytes(leaf, dice, [])
          : Buffer.from(canonicalText(changeJson(value, dice, [value])));
      return `\nextra ${changed.toString("base64")}`;
    }),
  );
}

const VERDICTS: readonly VerdictName[] = [
  "SIGNATURE",
  "INTEGRITY",
  "APPEND-ONLY",
  "WITNESSED",
  "COMPLETENESS",
  "DISCLOSURES",
];
const TIMES = [
  "2026-01-01T00:00Z",
  "2030-12-31T23:59:59.999999999Z",
  "2026-02-30T00:00Z",
  "9999-99-99T99:99Z",
  "0000-01-01T00:00Z",
  "x",
  "",
];

function changeOptions(state: Input, dice: Dice, proofs: readonly Buffer[]): Input {
  return dice.weighted<() => Input>([
    [1, () => ({ ...state, required: VERDICTS.filter(() => dice.chance(0.4)) })],
    [1, () => ({ ...state, policy: null })],
    [1, () => ({ ...state, releases: [release(dice.below(VERSIONS))] })],
    [
      3,
      () => {
        const lines = Array.from(
          { length: dice.size(200) },
          () => `${dice.pick(TIMES)}${dice.pick([" ", "\t", "  ", "\u00a0"])}${dice.pick(TIMES)}`,
        );
        const text = Buffer.from(`${lines.join("\n")}\n`);
        return { ...state, downtime: dice.chance(0.5) ? changeLines(text, dice, [text]) : text };
      },
    ],
    [
      1,
      () => ({
        ...state,
        downtime: Buffer.from("2000-01-01T00:00Z 2099-01-01T00:00Z\n# all of it\n"),
      }),
    ],
    [
      3,
      () => ({
        ...state,
        erasures: [
          ...state.erasures,
          dice.chance(0.5) ? dice.pick(proofs) : changeLines(dice.pick(proofs), dice, proofs),
        ].slice(-4),
      }),
    ],
    [
      2,
      () => ({
        ...state,
        nonce: dice.pick([
          "0".repeat(64),
          "f".repeat(64),
          "",
          "0".repeat(63),
          "F".repeat(64),
          "\u0660".repeat(64),
        ]),
      }),
    ],
    [
      3,
      () => {
        const filter = [
          "type=key.list",
          "phase=fact",
          "prod=auditd",
          "from=2026",
          "to=9",
          "actor=usr-1",
          "object=usr-1",
          "__proto__=1",
          "from",
          "=",
          ",",
        ];
        const chosen = Array.from({ length: dice.below(4) }, () => dice.pick(filter)).join(",");
        return {
          ...state,
          nonce: "0".repeat(64),
          sample: {
            count: dice.pick(["1", "25", "10000", "10001", ...NUMBERS.slice(0, 20)]),
            filter: chosen,
          },
        };
      },
    ],
  ])();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
