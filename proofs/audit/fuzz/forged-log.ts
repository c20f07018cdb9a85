/**
 * A log of the fuzzer's own keys: its leaves are anything at all, and hashed and signed as they should be, so that what lies behind the checks of
 * hashes and signatures is reached.
 */
import type { Dice } from "./dice.ts";
import { type Input, inputOf } from "./input.ts";
import { type Member, member, putTogether } from "./members.ts";
import { filesOf, leafHash, pathTo, rootOf, sha256 } from "./merkle.ts";
import type { Head, KeyName, Line, NoteKeys } from "./note-keys.ts";

export const ORIGIN = "box.audit.acme/2026";
export const OTHER_ORIGIN = "box.audit.acme/2027";

/** What a note says; null: the truth. */
export type Note = { size: string | null; root: string | null; lines: Line[]; more: string };
/** Of another shard, or of this log: a proof of one of its leaves. */
export type ForgedProof = {
  origin: string;
  leaves: Buffer[];
  index: string;
  note: Note;
  dropped: number;
  added: number;
};

export type ForgedLog = {
  origin: string;
  leaves: Buffer[];
  note: Note;
  kept: { size: number; note: Note }[];
  /** By bundle. */
  disclosures: Map<number, Buffer>;
  policy: ({ key: KeyName; as: "log" | "other log" | "witness" } | string)[];
  known: Buffer[];
  /** Its own notes, as what an auditor kept. */
  knownSizes: number[];
  erasures: ForgedProof[];
  releases: Buffer[];
  downtime: string | null;
  nonce: string | null;
  sample: Input["sample"];
};

export class Forge {
  readonly #keys: NoteKeys;
  readonly #dice: Dice;

  constructor(keys: NoteKeys, dice: Dice) {
    this.#keys = keys;
    this.#dice = dice;
  }

  input(log: ForgedLog): Input {
    const dice = this.#dice;
    return inputOf(this.archive(log), this.policy(log), {
      known: [
        ...log.known,
        ...log.knownSizes.map((size) => this.note(log.origin, log.leaves.slice(0, size), HONEST)),
      ],
      erasures: log.erasures.map((proof) => this.proof(proof)),
      releases: log.releases,
      downtime: log.downtime === null ? null : Buffer.from(log.downtime),
      nonce: log.nonce,
      sample: log.sample,
      chunkBytes: dice.pick([7, 511, 512, 4_096, 65_536, 1_048_576]),
      isPiped: dice.chance(0.1),
    });
  }

  archive({ origin, leaves, note, kept, disclosures }: ForgedLog): Buffer {
    const hashes = leaves.map(leafHash);
    const members: Member[] = [member("checkpoint", this.note(origin, leaves, note, hashes))];
    for (const one of kept) {
      const name = `checkpoints/${one.note.size ?? one.size}`;
      members.push(
        member(
          name,
          this.note(origin, leaves.slice(0, one.size), one.note, hashes.slice(0, one.size)),
        ),
      );
    }
    for (const { path, content } of filesOf(leaves, hashes)) {
      const [, bundle] = /^tile\/entries\/([^.]*)/.exec(path) ?? [];
      const lines =
        bundle === undefined ? undefined : disclosures.get(Number(bundle.replaceAll(/[x/]/g, "")));
      if (lines !== undefined)
        members.push(member(path.replace(/^tile\/entries/, "disclosures"), lines));
      members.push(member(path, content));
    }
    return putTogether(members);
  }

  policy({ origin, policy }: ForgedLog): Buffer {
    const lines = policy.map((line) => {
      if (typeof line === "string") return line;
      const of = line.as === "other log" ? OTHER_ORIGIN : origin;
      return `${line.as === "witness" ? `witness ${line.key}` : "log"} ${this.#keys.verifierKey(line.key, of)}`;
    });
    return Buffer.from(`${lines.join("\n")}\n`);
  }

  proof({ origin, leaves, index, note, dropped, added }: ForgedProof): Buffer {
    const hashes = leaves.map(leafHash);
    const at = Math.max(0, Math.min(Number(index) || 0, leaves.length - 1));
    const path = pathTo(at, hashes).slice(dropped);
    const lines = [
      "c2sp.org/tlog-proof@v1",
      `extra ${leaves[at]!.toString("base64")}`,
      `index ${index}`,
    ];
    const all = [...path, ...Array.from({ length: added }, () => hashes[0]!)].map((hash) =>
      hash.toString("base64"),
    );
    return Buffer.concat([
      Buffer.from(`${[...lines, ...all].join("\n")}\n\n`),
      this.note(origin, leaves, note, hashes),
    ]);
  }

  note(
    origin: string,
    leaves: readonly Buffer[],
    { size, root, lines, more }: Note,
    hashes = leaves.map(leafHash),
  ): Buffer {
    const head: Head = {
      origin,
      size: size ?? String(leaves.length),
      root: root ?? rootOf(hashes).toString("base64"),
    };
    const signed = lines.map((line) => this.#keys.line(line, head, this.#dice)).join("");
    return Buffer.from(`${origin}\n${head.size}\n${head.root}\n${more}\n${signed}`);
  }
}

export const HONEST: Note = {
  size: null,
  root: null,
  lines: [{ key: "ed25519", timeS: 1_790_000_000n, form: "sound" }],
  more: "",
};

/** Values that can be opened: the commitment of each stands in some leaves. */
export const OPENINGS = [
  "10.0.0.7",
  "Ada",
  "ward 3",
  "",
  "\u202e",
  "\u0000\n",
  "x".repeat(8_192),
  "ü".repeat(300),
].map((value, at) => {
  const field = ["src.addr", "src.agent", "pii.username", "digests.input"][at % 4]!;
  const salt = sha256(Buffer.of(at)).toString("hex");
  const text = Buffer.concat([
    Buffer.from(`sov-pii-v1\0${field}\0`),
    Buffer.from(salt, "hex"),
    Buffer.from(value),
  ]);
  return { field, salt, value, commitment: sha256(text).toString("hex") };
});

/** Root over what an erasure ended. */
export function erasedRoot(
  lines: readonly { index: number; field: string; commitment: string }[],
): string {
  return rootOf(
    lines.map(({ index, field, commitment }) =>
      leafHash(Buffer.from(`${index}\n${field}\n${commitment}`)),
    ),
  ).toString("hex");
}
