import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as breath } from "node:timers/promises";
import t from "tap";
import { filesWith, Needles } from "../src/privacy/find-bytes.ts";

t.test("files that go while one is looked for end nothing, and hide nothing", async (t) => {
  const folder = t.testdir();
  const needle = randomBytes(32);
  const needles = new Needles(10);
  needles.add(needle);
  const files = (): string[] => readdirSync(folder).filter((name) => name.startsWith("f"));
  for (let at = 0; at < 40; at++) writeFileSync(join(folder, `f${at}`), randomBytes(64));
  const looking = filesWith(needles, [folder]);
  // What lay under one name lies under another, while the look is under way.
  for (let at = 0; at < 40; at++) {
    renameSync(join(folder, `f${at}`), join(folder, `g${at}`));
    if (at === 20)
      writeFileSync(join(folder, "g20"), Buffer.concat([randomBytes(8), needle, randomBytes(8)]));
    await breath();
  }
  t.same(files(), []);
  t.same(await looking, [join(folder, "g20")]);
});

t.test("a folder that is not there is told", async (t) => {
  const needles = new Needles(1);
  needles.add(randomBytes(16));
  const folder = join(t.testdir(), "none");
  rmSync(folder, { recursive: true, force: true });
  await t.rejects(filesWith(needles, [folder]), { code: "ENOENT" });
});
