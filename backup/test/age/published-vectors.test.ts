/** The vectors that the authors of the format publish (C2SP, CCTV): files that each reader opens or refuses. */
import { createHash } from "node:crypto";
import { inflateSync } from "node:zlib";
import * as vectors from "cctv-age";
import t from "tap";
import { decryptWith } from "../../src/age/decrypt-with.ts";
import { decodeBech32 } from "../../src/age/bech32.ts";
import { BackupError } from "../../src/backup-error.ts";
import { chunked } from "../helper/bytes.ts";

/** With more stanzas than one, or with one of another kind: we write none, and open none. */
const OF_OTHERS = [
  "stanza_empty_body",
  "stanza_empty_last_line",
  "stanza_valid_characters",
  "x25519_grease",
  "x25519_lowercase",
  "x25519_multiple_recipients",
];

type Vector = { expect: string; sha256: string | undefined; secret: Buffer; file: Buffer };

/** Null for what no X25519 key alone opens: passphrases, other kinds of keys, files written as text. */
function vectorOf(bytes: Uint8Array): Vector | null {
  const text = Buffer.from(bytes);
  const end = text.indexOf("\n\n");
  const facts = text
    .toString("latin1", 0, end)
    .split("\n")
    .map((line) => line.split(": ") as [string, string]);
  const said = new Map(facts);
  const secrets = facts.filter(([key]) => key === "identity");
  const secret = decodeBech32("age-secret-key-", said.get("identity") ?? "");
  if (secret === null || secrets.length !== 1 || said.has("armored") || said.has("passphrase"))
    return null;
  const body = text.subarray(end + 2);
  const file = said.get("compressed") === "zlib" ? inflateSync(body) : body;
  return { expect: said.get("expect") ?? "", sha256: said.get("payload"), secret, file };
}

/** The verdict of our reader in the vectors' words, and the hash of what it gave out. */
async function judged({ secret, file }: Vector): Promise<{ verdict: string; sha256: string }> {
  const hash = createHash("sha256");
  let verdict = "success";
  try {
    for await (const bytes of decryptWith(secret, chunked(file), "x")) hash.update(bytes);
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    verdict = error.code === "backup_key_wrong" ? "no match" : "damaged";
  }
  return { verdict, sha256: hash.digest("hex") };
}

t.test("published vectors are opened and refused as they say", async (t) => {
  let count = 0;
  for (const [name, bytes] of Object.entries(vectors)) {
    const vector = bytes instanceof Uint8Array ? vectorOf(bytes) : null;
    if (vector === null) continue;
    count += 1;
    const { verdict, sha256 } = await judged(vector);
    const isJudgedAlike = /^(success|no match)$/.test(vector.expect) && !OF_OTHERS.includes(name);
    t.equal(verdict, isJudgedAlike ? vector.expect : "damaged", name);
    if (verdict === "success") t.equal(sha256, vector.sha256, name);
  }
  t.equal(count, 66);
});
