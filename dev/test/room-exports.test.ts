/** A room exports what other rooms import, and nothing else: what nobody needs from outside is the room's own affair. */
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { readRooms } from "@resontech/house/read-rooms";
import t from "tap";
import { unusedExports } from "../house/house-figures.ts";
import { readExports, readImports } from "../house/read-imports.ts";

const repository = join(import.meta.dirname, "..", "..");

t.test("every export of a room is a file that another room imports", async (t) => {
  // A pattern stands for the files of a folder.
  const exported = [...readExports(repository)].filter(([name]) => !name.includes("*"));
  t.ok(exported.length > 300);
  t.same(
    exported.filter(([, file]) => !existsSync(join(repository, file))),
    [],
  );
  const rooms = [...readRooms(repository), "dev"];
  const files = globSync(
    rooms.map((room) => `${room}/**/*.{ts,tsx,mjs}`),
    { cwd: repository, exclude: ["**/node_modules/**"] },
  );
  t.same(
    unusedExports(
      exported.map(([name]) => name),
      readImports(repository, [...new Set(files)]),
    ),
    [],
    "take it from the room's package.json",
  );
});
