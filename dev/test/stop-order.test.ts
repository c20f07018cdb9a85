import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";

const repository = join(import.meta.dirname, "..", "..");

t.test("whoever says that it listens can be stopped in order from then on", async (t) => {
  const frame = "frame/src/program/run-part.ts";
  const sources = globSync(["*/src/**/main.ts", "coordinator/src/server.ts", frame], {
    cwd: repository,
  })
    .map((file) => [file, readFileSync(join(repository, file), "utf8")] as const)
    .filter(([, text]) => /"listening"|\blistening:/.test(text));
  t.ok(sources.length >= 6, sources.map(([file]) => file).join(", "));
  for (const [file, text] of sources) {
    const handled = Math.max(
      text.indexOf("closeWithGrace(\n"),
      text.indexOf("closeWithGrace({"),
      text.indexOf("process.once(signal"),
    );
    t.ok(handled > 0 && handled < text.search(/"listening"|\blistening:/), file);
  }
});

t.test("a declared part ends as the frame does it", async (t) => {
  const mains = globSync("parts/*/src/main.ts", { cwd: repository });
  t.ok(mains.length > 0);
  for (const file of mains)
    t.match(readFileSync(join(repository, file), "utf8"), /^runPart\(/m, file);
});
