/** Reads {@link SourceTree} from the working tree. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { programSource } from "@resontech/airgap/programs";
import { runChild } from "@resontech/house/run-child";
import { readRooms } from "@resontech/house/read-rooms";
import { namedRooms } from "./room-closure.ts";
import type { SourceTree } from "./source-tree.ts";

type Cruised = { modules: { source: string; dependencies: { resolved: string }[] }[] };

export async function readSourceTree(repository: string): Promise<SourceTree> {
  const rooms = readRooms(repository);
  const output = await runChild(
    join(repository, "node_modules/.bin/depcruise"),
    [...rooms, "dev", "--output-type", "json"],
    { cwd: repository, quiet: true },
  );
  const { modules } = JSON.parse(output) as Cruised;
  const imports = new Map(
    modules.map(({ source, dependencies }) => [
      source,
      dependencies.map(({ resolved }) => resolved),
    ]),
  );
  const texts = [...imports.keys()]
    .filter((file) => /\.m?[jt]sx?$/.test(file) && !file.includes("node_modules/"))
    .flatMap((file) => {
      const text = readText(join(repository, file));
      return text === null ? [] : [[file, text] as const];
    });
  return {
    imports,
    programs: new Map(
      texts
        .filter(([file]) => file.includes("/test/"))
        .map(([file, text]) => [file, programsOf(text)]),
    ),
    rooms: new Map(
      texts.map(([file, text]) => [file, namedRooms(file, text, [...rooms, "docs", "examples"])]),
    ),
  };
}

/** Modules of Node itself have no file. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

/** Sources of what a test starts as `shippedProgram("name")`. */
function programsOf(text: string): string[] {
  return [...text.matchAll(/shippedProgram\("([a-z0-9-]+)"\)/g)].map(([, name]) =>
    programSource(name!),
  );
}
