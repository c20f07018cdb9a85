import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";

const repository = join(import.meta.dirname, "..", "..");

t.test("whoever says that it listens can be stopped in order from then on", async (t) => {
  const sources = globSync(["*/src/**/main.ts", "coordinator/src/server.ts"], { cwd: repository })
    .map((file) => [file, readFileSync(join(repository, file), "utf8")] as const)
    .filter(([, text]) => /"listening"|\blistening:/.test(text));
  t.ok(sources.length >= 8, sources.map(([file]) => file).join(", "));
  for (const [file, text] of sources) {
    const handled = Math.max(text.indexOf("closeWithGrace({"), text.indexOf("process.once(signal"));
    t.ok(handled > 0 && handled < text.search(/"listening"|\blistening:/), file);
  }
});
