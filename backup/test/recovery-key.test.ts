import t from "tap";
import { makeRecoveryKey, readRecoveryKey, recipientBytes, signerOf } from "../src/recovery-key.ts";

t.test("the sheet gives the key back, in a file or as somebody types it", async (t) => {
  const { sheet, keys, signingKeyPem } = makeRecoveryKey("box.acme");
  const read = readRecoveryKey(sheet);
  t.equal(read.recipient, keys.recipient);
  t.equal(read.signer, keys.signer);
  t.equal(signerOf(signingKeyPem), keys.signer);
  t.equal(recipientBytes(keys.recipient).length, 32);
  const typed = sheet
    .split("\n")
    .filter((line) => !line.startsWith("# Recovery"))
    .join("\r\n")
    .toLowerCase();
  t.same(readRecoveryKey(typed), read);
});

t.test("a key that was copied wrongly is told by the part that is wrong", async (t) => {
  const { sheet } = makeRecoveryKey("box.acme");
  const lines = sheet.split("\n");
  const swapped = (line = ""): string => `${line.slice(0, -2)}${line.at(-1)}${line.at(-2)}`;
  for (const [at, part] of [
    [1, /AGE-SECRET-KEY-1/],
    [2, /rtbackup1/],
  ] as const) {
    const others = lines.filter((_, index) => index !== at).join("\n");
    t.throws(() => readRecoveryKey(others), { code: "backup_key_invalid", message: part });
    if (swapped(lines[at]) === lines[at]) continue;
    t.throws(() => readRecoveryKey(`${others}\n${swapped(lines[at])}`), {
      ...{ code: "backup_key_invalid", message: part },
    });
  }
});

t.test("two keys have nothing in common, and no sheet holds the signing key", async (t) => {
  const [one, other] = [makeRecoveryKey("a"), makeRecoveryKey("a")];
  t.not(one.keys.recipient, other.keys.recipient);
  t.not(one.keys.signer, other.keys.signer);
  t.notMatch(one.sheet, /PRIVATE/);
});
