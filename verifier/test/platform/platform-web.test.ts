import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import t from "tap";
import type { SignatureAlgorithm } from "../../src/platform/platform.ts";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import { webPlatform } from "../../src/platform/platform-web.ts";

const message = Buffer.from("three lines\n");
const rawKey = (key: KeyObject, bytes: number): Uint8Array =>
  key.export({ format: "der", type: "spki" }).subarray(-bytes);

const ed25519 = generateKeyPairSync("ed25519");
const mlDsa = generateKeyPairSync("ml-dsa-44");
const ecdsa = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KINDS: [SignatureAlgorithm, Uint8Array, Uint8Array][] = [
  ["ed25519", rawKey(ed25519.publicKey, 32), sign(null, message, ed25519.privateKey)],
  ["ml-dsa-44", rawKey(mlDsa.publicKey, 1_312), sign(null, message, mlDsa.privateKey)],
  [
    "ecdsa-p256",
    ecdsa.publicKey.export({ format: "der", type: "spki" }),
    sign("sha256", message, ecdsa.privateKey),
  ],
];

t.test("WebCrypto judges signatures as Node's own library does", async (t) => {
  for (const [kind, key, signature] of KINDS) {
    t.equal(await webPlatform.verify(kind, key, message, signature), true, kind);
    const altered = [...signature.keys()].filter((at) => at % 7 === 0 || at < 8);
    for (const at of altered) {
      const flipped = Uint8Array.from(signature);
      flipped[at]! ^= 1;
      t.equal(
        await webPlatform.verify(kind, key, message, flipped),
        false,
        `${kind}: byte ${at} of the signature`,
      );
      t.equal(
        await nodePlatform.verify(kind, key, message, flipped),
        false,
        `${kind}: byte ${at}, Node`,
      );
    }
    t.equal(
      await webPlatform.verify(kind, key, Buffer.from("other\n"), signature),
      false,
      `${kind}: another message`,
    );
    t.equal(
      await webPlatform.verify(kind, key, message, signature.subarray(1)),
      false,
      `${kind}: cut short`,
    );
    t.equal(await webPlatform.verify(kind, key, message, Buffer.alloc(0)), false, `${kind}: none`);
  }
});

t.test(
  "an ECDSA signature has one form: every r and s of all lengths, nothing around them",
  async (t) => {
    const [, key, signature] = KINDS[2]!;
    for (let count = 0; count < 600; count++) {
      const any = sign("sha256", message, ecdsa.privateKey);
      if ((await webPlatform.verify("ecdsa-p256", key, message, any)) !== true)
        t.fail(`refuses ${any.toString("hex")}`);
    }
    const [, length = 0, , r = 0] = signature;
    const longer = Buffer.concat([
      Buffer.from([0x30, length + 1, 0x02, r + 1, 0x00]),
      signature.subarray(4),
    ]);
    t.equal(
      await webPlatform.verify("ecdsa-p256", key, message, longer),
      false,
      "a number that is longer than it must be",
    );
    t.equal(
      await webPlatform.verify(
        "ecdsa-p256",
        key,
        message,
        Buffer.concat([signature, Buffer.from([0])]),
      ),
      false,
    );
  },
);

t.test("a key that can't be read verifies nothing", async (t) => {
  t.equal(
    await webPlatform.verify("ecdsa-p256", Buffer.from("no key"), message, KINDS[2]![2]),
    false,
  );
  t.equal(await webPlatform.verify("ed25519", Buffer.alloc(31), message, KINDS[0]![2]), false);
});
