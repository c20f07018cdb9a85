/** The specifications' own examples, and those of Go's note package: what is signed is taken, and nothing that differs by a character. */
import { createHash, verify } from "node:crypto";
import t from "tap";
import { parseCheckpoint as parseOwn } from "../../../src/format/note/checkpoint.ts";
import { KEY_TYPE, parseVerifierKey, publicKeyObject } from "../../../src/format/note/note-key.ts";
import { isLineOf, parseNote } from "../../../src/format/note/signed-note.ts";
import { utf8 } from "@resontech/verifier/input/bytes";
import { parseCheckpoint as parseJudged } from "@resontech/verifier/input/note";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";
import { parsePolicy } from "@resontech/verifier/signatures/policy";

/** signed-note, "Example". */
const EXAMPLE = {
  key: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
  note: "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n",
};
/** golang.org/x/mod/sumdb/note, example_test.go. */
const NEUMANN = {
  key: "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  note: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
};
/** signed-note, the first example: its key is not given. */
const POEM =
  "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n— quasimodo.example/salvatore NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n";
/** tlog-cosignature, the first example; its first signature is tlog-checkpoint's. */
const COSIGNED =
  "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";

/** Whether the key has signed, by the log's code. */
function isSigned({ key, note }: { key: string; note: string }): boolean {
  try {
    const known = parseVerifierKey(key);
    const parsed = parseNote(note);
    const line = parsed?.signatures.find((one) => isLineOf(one, known));
    return (
      parsed != null &&
      line !== undefined &&
      verify(null, Buffer.from(parsed.text), publicKeyObject(known), line.signature)
    );
  } catch {
    return false;
  }
}

for (const [name, example] of Object.entries({ "signed-note": EXAMPLE, "Go's note": NEUMANN }))
  t.test(`${name}: the example is taken, none of its alterations is`, async (t) => {
    t.ok(isSigned(example));
    const { logs } = parsePolicy(utf8(`log ${example.key}\nquorum none\n`), nodePlatform);
    const [text = "", line = ""] = example.note.split("\n\n");
    const signature = Buffer.from(line.trim().split(" ")[2]!, "base64").subarray(4);
    t.equal(
      await nodePlatform.verify("ed25519", logs[0]!.publicKey, utf8(`${text}\n`), signature),
      true,
      "the verifier's own way",
    );
    let altered = 0;
    for (let at = 0; at < example.note.length; at++) {
      const other = example.note[at] === "a" ? "b" : "a";
      const note = example.note.slice(0, at) + other + example.note.slice(at + 1);
      // The last character but one of a signature's base64 holds two bits that nobody may set.
      altered += isSigned({ ...example, note }) ? 1 : 0;
    }
    t.equal(altered, 0, `${example.note.length} notes refused`);
    let keys = 0;
    for (let at = 0; at < example.key.length; at++) {
      const other = example.key[at] === "A" ? "B" : "A";
      keys += isSigned({
        ...example,
        key: example.key.slice(0, at) + other + example.key.slice(at + 1),
      })
        ? 1
        : 0;
    }
    t.equal(keys, 0, `${example.key.length} keys refused`);
  });

t.test("keys that Go's tests call bad are refused by both", (t) => {
  const bad = [
    "PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==",
    "PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    NEUMANN.key.replace("c74f20a3", "c74f20a4"),
    NEUMANN.key.replace("PeterNeumann", "Peter Neumann"),
    NEUMANN.key.replace("PeterNeumann", ""),
    NEUMANN.key.slice(0, -1),
  ];
  const ofUnknownType = bad[1]!;
  for (const key of bad) {
    t.throws(() => parseVerifierKey(key), key);
    const read = () => parsePolicy(utf8(`log ${key}\nquorum none\n`), nodePlatform);
    // A key of a type that this release does not know makes SIGNATURE say NOT CHECKED; it does not hide the others.
    if (key === ofUnknownType) t.match(read().logs, [{ type: 0x65 }]);
    else t.throws(read, key);
  }
  t.end();
});

t.test(
  "a text may hold blank lines and any letter; the last blank line begins the signatures",
  (t) => {
    t.match(parseNote(POEM), {
      text: /^Ognuno.*\n.*\n\ned è subito sera\.\n$/,
      signatures: [{ name: "quasimodo.example/salvatore" }],
    });
    t.end();
  },
);

t.test(
  "the cosigned checkpoint is read alike, and its time stands where the specification says",
  (t) => {
    const own = parseOwn(COSIGNED)!;
    const judged = parseJudged(utf8(COSIGNED), "it");
    for (const { origin, size, root, signatures } of [own, judged]) {
      t.same({ origin, size }, { origin: "example.com/behind-the-sofa", size: 20_852_163 });
      t.equal(Buffer.from(root).toString("base64"), "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=");
      t.same(
        signatures.map(({ name }) => name),
        ["example.com/behind-the-sofa", "witness.example.com/w1"],
      );
    }
    t.equal(
      own.signatures[1]!.signature.readBigUInt64BE(0),
      1_679_315_147n,
      "as in the message that the text shows",
    );
    t.equal(own.signatures[1]!.signature.length, 8 + 64);
    const altered = [
      COSIGNED.replace("20852163", "020852163"),
      COSIGNED.replace("20852163", "-1"),
      COSIGNED.replace("20852163", "9007199254740993"),
      COSIGNED.replace("CsUYapGG", "CsUYapG"),
      COSIGNED.replace("2I=\n", "2J=\n"),
      COSIGNED.replace("behind-the-sofa\n", "behind-the-sofa\r\n"),
      COSIGNED.replace("\n\n", "\n"),
      COSIGNED.slice(0, -1),
      COSIGNED.replace("— witness", "- witness"),
      COSIGNED.replace("jWbPPw", "jWbPP!"),
    ];
    for (const text of altered) {
      t.equal(parseOwn(text), null);
      t.throws(() => parseJudged(utf8(text), "it"));
    }
    t.end();
  },
);

t.test("key ids are computed as the specifications say, for every type", (t) => {
  for (const type of Object.values(KEY_TYPE)) {
    const publicKey = Buffer.alloc(type === KEY_TYPE.mlDsa44 ? 1_312 : 32, 7);
    const id = createHash("sha256")
      .update("w.example\n")
      .update(Buffer.of(type))
      .update(publicKey)
      .digest("hex")
      .slice(0, 8);
    const key = `w.example+${id}+${Buffer.concat([Buffer.of(type), publicKey]).toString("base64")}`;
    t.equal(parseVerifierKey(key).keyId.toString("hex"), id);
    t.equal(parsePolicy(utf8(`log ${key}\nquorum none\n`), nodePlatform).logs[0]!.keyId, id);
  }
  t.end();
});
