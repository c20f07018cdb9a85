/** C2SP tlog-policy: which keys sign which log, and which witnesses must have seen a checkpoint. The verifier has its own reader. */
import { NoteKeyError, type NoteKey, parseVerifierKey } from "./note-key.ts";

export type Witness = { name: string; key: NoteKey; url: string | null };
/** A witness by its name, or so many of these. */
type Group = { threshold: number; members: readonly string[] };
export type Policy = {
  logs: readonly NoteKey[];
  witnesses: readonly Witness[];
  /** Whether these witnesses, by their names in the policy, are a quorum. */
  isQuorum: (cosigned: ReadonlySet<string>) => boolean;
  /** `quorum none`: no witness is asked for. */
  needsWitness: boolean;
};

const ECDSA_TYPE = 0x02;
const MAX_BYTES = 262_144;
const MAX_OF_A_KIND = 32;
const THRESHOLD = /^[1-9][0-9]?$/;

export class PolicyError extends Error {
  override readonly name = "PolicyError";
  readonly code: string = "policy_invalid";
}

/** @throws PolicyError naming the line */
export function parsePolicy(bytes: Buffer): Policy {
  if (bytes.length > MAX_BYTES)
    throw new PolicyError(`the policy is longer than ${MAX_BYTES} bytes`);
  if (bytes.some((byte) => (byte < 0x20 && byte !== 0x09 && byte !== 0x0a) || byte === 0x7f))
    throw new PolicyError("the policy holds control characters");
  const reader = new PolicyReader();
  // Octets above 0x7F are opaque: names are compared byte by byte.
  for (const [at, line] of bytes.toString("latin1").split("\n").entries()) {
    const words = line.split(/[ \t]+/).filter((word) => word !== "");
    if (words.length === 0 || words[0]!.startsWith("#")) continue;
    try {
      reader.read(words);
    } catch (error) {
      if (error instanceof PolicyError || error instanceof NoteKeyError)
        throw new PolicyError(`line ${at + 1}: ${error.message}`);
      throw error;
    }
  }
  return reader.result();
}

class PolicyReader {
  readonly #logs: NoteKey[] = [];
  readonly #witnesses: Witness[] = [];
  readonly #groups = new Map<string, Group>();
  readonly #grouped = new Set<string>();
  #quorum: string | null = null;

  read([keyword, ...rest]: string[]): void {
    switch (keyword) {
      case "log":
        return this.#log(rest);
      case "witness":
        return this.#witness(rest);
      case "group":
        return this.#group(rest);
      case "quorum":
        return this.#setQuorum(rest);
      default:
        throw new PolicyError("is of an unknown kind");
    }
  }

  result(): Policy {
    const quorum = this.#quorum;
    if (quorum === null) throw new PolicyError("the policy has no quorum line");
    const counts = (name: string, cosigned: ReadonlySet<string>): boolean => {
      const group = this.#groups.get(name);
      if (group === undefined) return cosigned.has(name);
      return group.members.filter((member) => counts(member, cosigned)).length >= group.threshold;
    };
    return {
      logs: this.#logs,
      witnesses: this.#witnesses,
      isQuorum: (cosigned) => quorum === "none" || counts(quorum, cosigned),
      needsWitness: quorum !== "none",
    };
  }

  #log(words: string[]): void {
    if (words.length < 1 || words.length > 2)
      throw new PolicyError("a log line is `log <vkey> [<url>]`");
    // An ECDSA key may stand beside the others, never instead: nothing is asked of it.
    if (isEcdsaKey(words[0]!)) return;
    const key = parseVerifierKey(utf8(words[0]!));
    this.#refuseKeyTwice(this.#logs, key, "log");
    this.#logs.push(key);
  }

  #witness(words: string[]): void {
    if (words.length < 2 || words.length > 3)
      throw new PolicyError("a witness line is `witness <name> <vkey> [<url>]`");
    const [name = "", vkey = "", url = null] = words;
    this.#define(name);
    const key = parseVerifierKey(utf8(vkey));
    this.#refuseKeyTwice(
      this.#witnesses.map((witness) => witness.key),
      key,
      "witness",
    );
    this.#witnesses.push({ name, key, url });
  }

  #group(words: string[]): void {
    const [name = "", kind = "", ...members] = words;
    if (members.length === 0)
      throw new PolicyError("a group line is `group <name> <all|any|k> <name>…`");
    this.#define(name);
    for (const member of members) {
      if (!this.#isDefined(member) || member === name)
        throw new PolicyError(`no ${member} is defined before`);
      if (this.#grouped.has(member)) throw new PolicyError(`${member} is in a group already`);
      this.#grouped.add(member);
    }
    const threshold =
      kind === "all"
        ? members.length
        : kind === "any"
          ? 1
          : THRESHOLD.test(kind)
            ? Number(kind)
            : 0;
    if (threshold < 1 || threshold > members.length)
      throw new PolicyError(`of ${members.length} members ${kind} can't be asked for`);
    this.#groups.set(name, { threshold, members });
    if (this.#groups.size > MAX_OF_A_KIND) throw new PolicyError("there are too many groups");
  }

  #setQuorum(words: string[]): void {
    const [name = ""] = words;
    if (words.length !== 1 || this.#quorum !== null)
      throw new PolicyError("there is exactly one line `quorum <name>`");
    if (name !== "none" && !this.#isDefined(name))
      throw new PolicyError(`no ${name} is defined before`);
    this.#quorum = name;
  }

  #define(name: string): void {
    if (name === "none" || this.#isDefined(name))
      throw new PolicyError(`${name} is defined already`);
  }

  #isDefined(name: string): boolean {
    return this.#groups.has(name) || this.#witnesses.some((witness) => witness.name === name);
  }

  #refuseKeyTwice(known: readonly NoteKey[], { publicKey }: NoteKey, kind: string): void {
    if (known.length === MAX_OF_A_KIND) throw new PolicyError(`there are too many ${kind} lines`);
    if (known.some((other) => other.publicKey.equals(publicKey)))
      throw new PolicyError("the same key stands twice");
  }
}

/** Its id is not by its name and type (signed-note, type 0x02), so it is told by its type alone. */
function isEcdsaKey(word: string): boolean {
  const [, , encoded = ""] = word.split("+");
  return Buffer.from(encoded, "base64")[0] === ECDSA_TYPE;
}

/** Key names are text: signed-note wants UTF-8. */
function utf8(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("utf8");
}
