/** Predict keys in files: whole or not at all, and for one pair of eyes. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { predictKeyFrom, writeKeyFile } from "../src/infer/key-file.ts";

const make = (apiKey: string) => async () => ({ apiKey, jobId: "job-1" });

t.test("a key is written for its owner alone, and takes the place of the one before", async (t) => {
  const dir = t.testdir();
  const file = join(dir, "echo.key");
  t.match(await writeKeyFile(file, { isReplaced: false }, make("rpk_one")), { jobId: "job-1" });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(predictKeyFrom({}, file), "rpk_one");
  await t.rejects(writeKeyFile(file, { isReplaced: false }, make("rpk_two")), {
    code: "file_exists",
  });
  await writeKeyFile(file, { isReplaced: true }, make("rpk_three"));
  t.equal(readFileSync(file, "utf8"), "rpk_three\n");
  t.equal(statSync(file).mode & 0o777, 0o600);
});

t.test("what fails leaves the file as it was, and nothing beside it", async (t) => {
  const dir = t.testdir({ "echo.key": "rpk_one\n" });
  const file = join(dir, "echo.key");
  let isMade = false;
  const refused = async (): Promise<{ apiKey: string }> => {
    isMade = true;
    throw new Error("refused");
  };
  await t.rejects(writeKeyFile(file, { isReplaced: true }, refused), { message: "refused" });
  t.equal(isMade, true);
  t.same(readdirSync(dir), ["echo.key"]);
  t.equal(readFileSync(file, "utf8"), "rpk_one\n");
  isMade = false;
  await t.rejects(writeKeyFile(join(dir, "none", "k"), { isReplaced: true }, refused), {
    code: "file_unwritable",
  });
  t.equal(isMade, false, "no key is made that can't be kept");
});

t.test("a key comes from the environment or from a file that others can't read", async (t) => {
  const dir = t.testdir({ key: "rpk_one\n", empty: "\n", two: "rpk one\n" });
  t.equal(predictKeyFrom({ RESON_INFERENCE_API_KEY: "rpk_env" }, null), "rpk_env");
  t.throws(() => predictKeyFrom({}, null), { code: "key_missing" });
  t.throws(() => predictKeyFrom({}, join(dir, "none")), { code: "key_file_unreadable" });
  chmodSync(join(dir, "key"), 0o640);
  t.throws(() => predictKeyFrom({}, join(dir, "key")), { code: "key_file_unsafe" });
  for (const name of ["empty", "two"]) {
    chmodSync(join(dir, name), 0o600);
    t.throws(() => predictKeyFrom({}, join(dir, name)), { code: "key_missing" }, name);
  }
  mkdirSync(join(dir, "folder"), { mode: 0o700 });
  t.throws(() => predictKeyFrom({}, join(dir, "folder")), { code: "key_file_unreadable" });
  writeFileSync(join(dir, "good"), "rpk_good", { mode: 0o600 });
  t.equal(predictKeyFrom({ RESON_INFERENCE_API_KEY: "rpk_env" }, join(dir, "good")), "rpk_good");
});
