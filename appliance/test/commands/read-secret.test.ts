import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readSecret } from "../../src/commands/read-secret.ts";

t.test("a secret comes from a file that nobody else reads", async (t) => {
  const file = join(t.testdir(), "secret");
  writeFileSync(file, "correct horse \n", { mode: 0o600 });
  t.equal(await readSecret(file, "password", "--password-file"), "correct horse ");
  chmodSync(file, 0o640);
  await t.rejects(readSecret(file, "password", "--password-file"), { code: "secret_readable" });
  chmodSync(file, 0o600);
  for (const bad of ["", "\n", "two\nlines\n", "x".repeat(5_000)]) {
    writeFileSync(file, bad);
    await t.rejects(readSecret(file, "password", "--password-file"), { code: "secret_invalid" });
  }
  if (!process.stdin.isTTY)
    await t.rejects(readSecret(null, "password", "--password-file"), {
      code: "secret_missing",
      hint: /--password-file/,
    });
});
