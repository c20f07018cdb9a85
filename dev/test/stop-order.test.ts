import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";

const repository = join(import.meta.dirname, "..", "..");

t.test("whoever says that it listens can be stopped in order from then on", async (t) => {
  const frame = "frame/src/program/run-part.ts";
  const sources = globSync(
    ["*/src/**/main.ts", "parts/*/src/main.ts", "parts/coordinator/src/server.ts", frame],
    { cwd: repository },
  )
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

/** auditd, audit-out, vault and agent end by themselves, as the witness does, which no appliance runs. */
function isFrameless(main: string): boolean {
  const declaration = join(repository, dirname(main), "..", "part.ts");
  return !existsSync(declaration) || OWN_FRAME.test(readFileSync(declaration, "utf8"));
}

const OWN_FRAME = /define(?:Frameless|HostPart)\(/;

t.test("a part that the frame runs ends as the frame does it", async (t) => {
  const mains = globSync("parts/*/src/main.ts", { cwd: repository });
  const framed = mains.filter((main) => !isFrameless(main));
  t.ok(framed.length >= 3);
  for (const file of framed)
    t.match(readFileSync(join(repository, file), "utf8"), /^runPart\(/m, file);
});
