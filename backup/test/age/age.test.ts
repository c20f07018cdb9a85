import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Decrypter, Encrypter } from "age-encryption";
import t, { type Test } from "tap";
import { decryptWith } from "../../src/age/decrypt-with.ts";
import { encryptTo } from "../../src/age/encrypt-to.ts";
import { publicOf } from "../../src/age/x25519.ts";
import { makeRecoveryKey, readRecoveryKey, recipientBytes } from "../../src/recovery-key.ts";
import { chunked, collected } from "../helper/bytes.ts";

const CHUNK = 65_536;
const FIXTURES = join(import.meta.dirname, "..", "fixtures");
const secret = randomBytes(32);
const recipient = publicOf(secret);
const encrypted = (plain: Buffer) => collected(encryptTo(recipient, chunked(plain)));
const decrypted = (bytes: Uint8Array, key: Uint8Array = secret) =>
  collected(decryptWith(key, chunked(bytes, 777), "part.age"));

async function opensAll(t: Test, sheet: string, content: string, files: Record<string, number>) {
  const key = readRecoveryKey(readFileSync(join(FIXTURES, sheet), "utf8"));
  for (const [name, size] of Object.entries(files)) {
    const plain = await decrypted(readFileSync(join(FIXTURES, `${name}.age`)), key.secret);
    t.same(plain, Buffer.alloc(size, content), name);
  }
}

t.test("what was encrypted comes back at every size around a chunk", async (t) => {
  for (const size of [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5]) {
    const plain = randomBytes(size);
    t.ok((await decrypted(await encrypted(plain))).equals(plain), `${size} bytes`);
  }
});

t.test("a file that age itself wrote is opened with the key that age-keygen made", async (t) => {
  await opensAll(t, "of-age.key", "what age wrote.\n", {
    ...{ short: 18, empty: 0, chunk: CHUNK, long: CHUNK + 100 },
  });
});

t.test("a file that an earlier release wrote is opened with its key", async (t) => {
  await opensAll(t, "of-ours.key", "what we wrote.\n", {
    ...{ "ours-short": 18, "ours-empty": 0, "ours-long": CHUNK + 100 },
  });
});

t.test("the library of age's author opens what we write, and we open what it writes", async (t) => {
  const { sheet, keys } = makeRecoveryKey("box.acme");
  const key = readRecoveryKey(sheet);
  const decrypter = new Decrypter();
  decrypter.addIdentity(sheet.split("\n")[1]!);
  const encrypter = new Encrypter();
  encrypter.addRecipient(keys.recipient);
  for (const size of [0, 1, CHUNK, CHUNK + 1, 2 * CHUNK]) {
    const plain = randomBytes(size);
    const ours = await collected(encryptTo(recipientBytes(keys.recipient), chunked(plain)));
    t.ok(plain.equals(await decrypter.decrypt(ours)), `${size} bytes of ours`);
    const its = await decrypted(await encrypter.encrypt(plain), key.secret);
    t.ok(its.equals(plain), `${size} bytes of the library's`);
  }
});

t.test("another key opens nothing", async (t) => {
  const bytes = await encrypted(Buffer.from("secret"));
  await t.rejects(decrypted(bytes, randomBytes(32)), { code: "backup_key_wrong" });
});

t.test(
  "the file is let go of, whatever is wrong with it and wherever its reader stops",
  async (t) => {
    const bytes = await encrypted(randomBytes(2 * CHUNK));
    const changed = Buffer.from(bytes);
    changed[25]! ^= 1;
    const isLetGo = async (content: Buffer, key: Uint8Array, most = Number.POSITIVE_INFINITY) => {
      let isClosed = false;
      const source = async function* () {
        try {
          yield* chunked(content, 777);
        } finally {
          isClosed = true;
        }
      };
      let count = 0;
      try {
        for await (const _ of decryptWith(key, source(), "part.age")) if (++count === most) break;
      } catch {
        // What is wrong is judged by the other tests.
      }
      return isClosed;
    };
    t.ok(await isLetGo(bytes, secret), "read to its end");
    t.ok(await isLetGo(bytes, secret, 1), "read in part");
    t.ok(await isLetGo(bytes, randomBytes(32)), "another key");
    t.ok(await isLetGo(changed, secret), "a head that was changed");
    t.ok(await isLetGo(Buffer.alloc(8_000), secret), "no head");
  },
);

t.test("any byte that is changed, and any end that is missing, is found", async (t) => {
  const bytes = await encrypted(randomBytes(2 * CHUNK));
  const body = bytes.indexOf("\n--- ");
  const places = [0, 25, 40, 90, body + 8, body + 60, body + 100, bytes.length - 1];
  for (const at of places) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    await t.rejects(decrypted(changed), { name: "BackupError" }, `byte ${at}`);
  }
  for (const cut of [1, 16, CHUNK + 16, CHUNK + 17, bytes.length - 20, bytes.length])
    await t.rejects(decrypted(bytes.subarray(0, bytes.length - cut)), { code: "backup_damaged" });
  const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
  await t.rejects(decrypted(longer), { code: "backup_damaged" });
});
