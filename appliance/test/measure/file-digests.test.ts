import { createHash } from "node:crypto";
import { renameSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { FileDigests } from "../../src/measure/file-digests.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

t.test("each file's SHA-256, in the order asked for", async (t) => {
  const folder = t.testdir({ bin: { node: "runtime" }, "app.mjs": "program" });
  t.same(await new FileDigests(folder).of(["bin/node", "app.mjs"]), [
    { path: "bin/node", sha256: sha256("runtime") },
    { path: "app.mjs", sha256: sha256("program") },
  ]);
});

t.test(
  "a file that was written over is read again, its time set back or not, and so is one in its place",
  async (t) => {
    const folder = t.testdir({ "app.mjs": "program" });
    const file = join(folder, "app.mjs");
    const digests = new FileDigests(folder);
    const of = async () => (await digests.of(["app.mjs"]))[0]?.sha256;
    t.equal(await of(), sha256("program"));
    t.equal(await of(), sha256("program"), "unchanged");
    const { atime, mtime } = statSync(file);
    writeFileSync(file, "pr0gram");
    utimesSync(file, atime, mtime);
    t.equal(await of(), sha256("pr0gram"));
    writeFileSync(`${file}.new`, "another");
    renameSync(`${file}.new`, file);
    t.equal(await of(), sha256("another"));
  },
);

t.test("a file that is gone is no digest", async (t) => {
  await t.rejects(new FileDigests(t.testdir()).of(["app.mjs"]), { code: "ENOENT" });
});
