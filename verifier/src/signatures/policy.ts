/** C2SP tlog-policy: whose signatures count. It is the auditor's own file, and read as strictly as if it were not. */
import { concat, fromBase64, hex, latin1, textOf, utf8 } from "../input/bytes.ts";
import { Refused } from "../input/note.ts";
import type { Platform } from "../platform/platform.ts";

/** signed-note "Signature types". */
const ED25519 = 0x01;
const ECDSA = 0x02;
const ED25519_WITH_TIME = 0x04;
const ML_DSA_44 = 0x06;
const KEY_BYTES: Readonly<Record<number, number>> = {
  [ED25519]: 32,
  [ED25519_WITH_TIME]: 32,
  [ML_DSA_44]: 1_312,
};
export const KEY_TYPE = { ED25519, ECDSA, ED25519_WITH_TIME, ML_DSA_44 } as const;

export type Key = { name: string /** Hex. */; keyId: string; type: number; publicKey: Uint8Array };
export type Witness = { name: string; key: Key };
export type Policy = {
  logs: readonly Key[];
  witnesses: readonly Witness[];
  /** `none`, or a witness, or a group. */
  quorum: string;
  /** Whether these witnesses, by their names in the policy, satisfy it. */
  isQuorum: (cosigned: ReadonlySet<string>) => boolean;
};

const MAX_POLICY_BYTES = 262_144;
const MAX_OF_A_KIND = 32;

/** @throws {@link Refused} for anything that tlog-policy does not allow, naming the line */
export function parsePolicy(bytes: Uint8Array, { sha256 }: Platform): Policy {
  if (bytes.length > MAX_POLICY_BYTES) throw new Refused("the policy is too long");
  if (bytes.some((byte) => (byte < 0x20 && byte !== 0x09 && byte !== 0x0a) || byte === 0x7f))
    throw new Refused("the policy holds control characters");
  const logs: Key[] = [];
  const witnesses: Witness[] = [];
  const groups = new Map<string, { threshold: number; members: string[] }>();
  const names = new Set<string>();
  const grouped = new Set<string>();
  let quorum: string | null = null;

  const define = (name: string): void => {
    if (name === "none" || names.has(name)) throw new Refused(`${name} is defined twice`);
    names.add(name);
  };
  const add = <T>(list: T[], one: T, keyOf: (member: T) => Key): void => {
    if (list.some((other) => hex(keyOf(other).publicKey) === hex(keyOf(one).publicKey)))
      throw new Refused("a key stands twice");
    if (list.push(one) > MAX_OF_A_KIND) throw new Refused("there are too many lines of a kind");
  };
  const readers: Readonly<Record<string, (words: string[]) => void>> = {
    log: (words) => {
      if (words.length < 1 || words.length > 2)
        throw new Refused("a log line has one or two words more");
      add(logs, parseKey(words[0]!, sha256), (key) => key);
    },
    witness: (words) => {
      if (words.length < 2 || words.length > 3)
        throw new Refused("a witness line has two or three words more");
      define(words[0]!);
      add(witnesses, { name: words[0]!, key: parseKey(words[1]!, sha256) }, ({ key }) => key);
    },
    group: ([name = "", kind = "", ...members]) => {
      if (members.length === 0) throw new Refused("a group has no members");
      for (const member of members) {
        if (!names.has(member)) throw new Refused(`the group ${name} has an unknown member`);
        if (grouped.has(member)) throw new Refused(`${member} is in two groups`);
        grouped.add(member);
      }
      define(name);
      const threshold =
        kind === "all"
          ? members.length
          : kind === "any"
            ? 1
            : /^[1-9][0-9]?$/.test(kind)
              ? Number(kind)
              : 0;
      if (threshold < 1 || threshold > members.length)
        throw new Refused(`the group ${name} asks for what it has not`);
      groups.set(name, { threshold, members });
      if (groups.size > MAX_OF_A_KIND) throw new Refused("there are too many groups");
    },
    quorum: ([name = "", ...rest]) => {
      if (quorum !== null || rest.length > 0) throw new Refused("there is not exactly one quorum");
      if (name !== "none" && !names.has(name)) throw new Refused("the quorum names nobody");
      quorum = name;
    },
  };
  // Octets above 0x7F are opaque, and compared one by one.
  for (const [at, line] of latin1(bytes).split("\n").entries()) {
    const [keyword = "#", ...words] = line.split(/[ \t]+/).filter((word) => word !== "");
    if (keyword.startsWith("#")) continue;
    try {
      if (!Object.hasOwn(readers, keyword)) throw new Refused("it is of an unknown kind");
      readers[keyword]!(words);
    } catch (error) {
      if (error instanceof Refused)
        throw new Refused(`the policy's line ${at + 1}: ${error.message}`);
      throw error;
    }
  }
  if (quorum === null) throw new Refused("the policy has no quorum line");
  const asked: string = quorum;
  const counts = (name: string, cosigned: ReadonlySet<string>): boolean => {
    const group = groups.get(name);
    return group === undefined
      ? cosigned.has(name)
      : group.members.filter((member) => counts(member, cosigned)).length >= group.threshold;
  };
  return {
    logs,
    witnesses,
    quorum: asked,
    isQuorum: (cosigned) => asked === "none" || counts(asked, cosigned),
  };
}

/** `name+hash+base64(type ‖ key)`; the hash must be the key's own. @throws {@link Refused} */
function parseKey(word: string, sha256: Platform["sha256"]): Key {
  const text = textOf(Uint8Array.from(word, (character) => character.charCodeAt(0)));
  const [, name = "", keyId = "", encoded = ""] =
    /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/u.exec(text ?? "") ?? [];
  const bytes = fromBase64(encoded);
  if (name === "" || bytes === null || bytes.length < 2 || utf8(name).length > 255)
    throw new Refused("it has a key that is none");
  const type = bytes[0]!;
  const publicKey = bytes.subarray(1);
  const length = KEY_BYTES[type];
  // The id of an ECDSA key is the hash of the key alone (signed-note, type 0x02).
  const hashed = type === ECDSA ? publicKey : concat(utf8(`${name}\n`), bytes);
  const isOurs = type === ECDSA || length !== undefined;
  if (isOurs && hex(sha256(hashed).subarray(0, 4)) !== keyId)
    throw new Refused("it has a key whose hash is not its own");
  if (length !== undefined && publicKey.length !== length)
    throw new Refused("it has a key that has not the length of its type");
  return { name, keyId, type, publicKey };
}
