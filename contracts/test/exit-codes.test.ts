import { readFileSync, globSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { EXIT, EXIT_WORDS } from "../src/exit-codes.ts";

const repository = join(import.meta.dirname, "..", "..");
/** What a process of one program says to another of ours, or what a shell calls for words of Tab, is no command of a person. */
const OTHERS: ReadonlySet<string> = new Set([
  "appliance/src/backup/follower/main.ts",
  "cli/src/completion/commands.ts",
]);

t.test("no command of a person ends with a number of its own", async (t) => {
  const files = ["appliance", "installer", "cli"].flatMap((room) =>
    globSync(`${room}/src/**/*.ts`, { cwd: repository }),
  );
  t.ok(files.length > 200);
  for (const file of files.filter((one) => !OTHERS.has(one))) {
    const text = readFileSync(join(repository, file), "utf8");
    const own = /exitCode\s*[:=]\s*\d|process\.exit\(\d|const EXIT\b/.exec(text);
    t.equal(own?.[0], undefined, file);
  }
});

t.test("help and documents tell each code that there is", async (t) => {
  for (const code of [EXIT.done, EXIT.failed, EXIT.usage, EXIT.notAsWanted])
    t.match(EXIT_WORDS, new RegExp(`\\b${code} \\w`));
  for (const [page, codes] of [
    ["operator/README.md", [0, 1, 2, 3]],
    ["operator/nodes.md", [0, 1, 2, 3, 4]],
    ["researcher/shell.md", [0, 1, 2, 3]],
  ] as const) {
    const text = readFileSync(join(repository, "docs", page), "utf8");
    for (const code of codes)
      t.match(text, new RegExp(`^\\| ${code} \\| `, "m"), `${page}: ${code}`);
  }
});
