import { generateKeyPairSync, randomBytes, sign, verify } from "node:crypto";
import t from "tap";
import { verifyMlDsa44 } from "../../src/platform/ml-dsa-44.ts";

const PUBLIC_KEY_BYTES = 1_312;

t.test(
  "what Node's own library signs verifies, and no altered signature, message or key does",
  async (t) => {
    const { privateKey, publicKey } = generateKeyPairSync("ml-dsa-44");
    const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-PUBLIC_KEY_BYTES);
    for (let length = 0; length < 400; length += 40) {
      const message = randomBytes(length);
      const signature = sign(null, message, privateKey);
      t.equal(verifyMlDsa44(raw, message, signature), true, `${length} bytes`);
      t.equal(verifyMlDsa44(raw, Buffer.concat([message, Buffer.of(0)]), signature), false);
    }
    const message = Buffer.from("a checkpoint");
    const signature = sign(null, message, privateKey);
    for (let at = 0; at < signature.length; at += 37) {
      const flipped = Buffer.from(signature);
      flipped[at]! ^= 1 << (at % 8);
      // The library that signed is asked as well: the two must agree on every one.
      t.equal(
        verifyMlDsa44(raw, message, flipped),
        verify(null, message, publicKey, flipped),
        `bit of byte ${at}`,
      );
    }
    const other = Buffer.from(raw);
    other[700]! ^= 1;
    t.equal(verifyMlDsa44(other, message, signature), false);
  },
);

t.test(
  "what has not the length of a signature or of a key verifies nothing, and breaks nothing",
  async (t) => {
    const { privateKey, publicKey } = generateKeyPairSync("ml-dsa-44");
    const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-PUBLIC_KEY_BYTES);
    const message = Buffer.from("a checkpoint");
    const signature = sign(null, message, privateKey);
    for (const wrong of [
      Buffer.alloc(0),
      signature.subarray(1),
      Buffer.concat([signature, Buffer.of(0)]),
    ])
      t.equal(verifyMlDsa44(raw, message, wrong), false);
    for (const wrong of [Buffer.alloc(0), raw.subarray(1), Buffer.concat([raw, Buffer.of(0)])])
      t.equal(verifyMlDsa44(wrong, message, signature), false);
  },
);
