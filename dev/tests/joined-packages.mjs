// Loaded before each test file: takes joined packages (join-packages.ts) in place of their many modules, where the run has made them.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = process.env.RT_TEST_JOINED;
if (folder !== undefined) {
  const list = JSON.parse(readFileSync(join(folder, "list.json"), "utf8"));
  const joined = new Map(
    Object.entries(list).map(([name, file]) => [name, pathToFileURL(join(folder, file)).href]),
  );
  registerHooks({
    resolve(specifier, context, next) {
      const url = joined.get(specifier);
      return url === undefined
        ? next(specifier, context)
        : { url, format: "module", shortCircuit: true };
    },
  });
}
