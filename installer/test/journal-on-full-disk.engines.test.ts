/** The journal on a file system that is full to its last byte: a real one, in memory. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { Journal } from "../src/journal.ts";
import { digestOf } from "../src/request.ts";
import { request } from "./helper/request.ts";

const root = mkdtempSync(join(tmpdir(), "rt-full-"));
execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", root]);
t.teardown(() => {
  execFileSync("umount", [root]);
  rmSync(root, { recursive: true });
});
const begin = (release: string) =>
  ({ kind: "begin", release, configuration: digestOf(request), request }) as const;
const lines = () => new Journal(root).runs.map(({ begin: { release } }) => release);

function fill(name: string): void {
  const fd = openSync(join(root, name), "a");
  try {
    for (;;) writeSync(fd, Buffer.alloc(4_096, 1));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  } finally {
    closeSync(fd);
  }
}

t.test(
  "the way back has its lines on a full disk, and a line that does not fit is none",
  async (t) => {
    const journal = new Journal(root);
    journal.append(begin("a"));
    fill("first");
    for (let n = 0; n < 4; n++) journal.append(begin("b"));
    t.same(lines(), ["a", "b", "b", "b", "b"], "in the room that was held");
    fill("second");
    let kept = 5;
    t.throws(
      () => {
        for (; kept < 200; kept++) journal.append(begin("c"));
      },
      { code: "ENOSPC" },
    );
    t.equal(lines().length, kept, "each that returned is there whole");
    rmSync(join(root, "first"));
    journal.append(begin("d"));
    t.equal(lines().at(-1), "d");
    t.equal(lines().length, kept + 1);
  },
);
