import t from "tap";
import { progressLine } from "../../src/storage/progress.ts";

t.test("a line fits the terminal whatever the name, and nothing in it is obeyed", async (t) => {
  t.equal(progressLine("data/a.zip", 7, "1.5 MiB/s", 80), "data/a.zip   7 %  1.5 MiB/s");
  for (const columns of [80, 40, 30]) {
    const line = progressLine(`${"folder/".repeat(40)}site-12.zip`, 100, "1.5 MiB/s", columns);
    t.equal(line.length, columns - 1);
    t.match(line, /^….*\.zip 100 % {2}1\.5 MiB\/s$/);
  }
  t.match(progressLine("a\u001b[2J\nb\tc", 0, "", 80), /^a\\u\{1b\}\[2J b c /);
});
