/** `appliance/` names no part: what is known of one is said in its declaration, and read by loops. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PARTS } from "@resontech/parts";
import t from "tap";
import { NAMED_PARTS } from "./helper/named-parts.ts";

const room = join(import.meta.dirname, "..");
const NAMES = PARTS.map(({ name }) => name);
/** Which engine runs containers is a choice of the install, and who logs a command is said of each command. */
const NO_PART = /(?:kind|ngine)\)?(?:: | ===\s+)"podman"|"podman" \| "docker"|loggedBy: "[a-z]+"/g;

function namedIn(source: string): number {
  const code = source.replaceAll(NO_PART, "");
  return NAMES.reduce((sum, name) => sum + code.split(`"${name}"`).length - 1, 0);
}

t.test("no file names more parts than it has a reason for", async (t) => {
  const files = globSync("src/**/*.ts", { cwd: room }).toSorted();
  t.ok(files.length > 100);
  const named = Object.fromEntries(
    files
      .map((file) => [file, namedIn(readFileSync(join(room, file), "utf8"))] as const)
      .filter(([, count]) => count > 0),
  );
  const allowed = Object.fromEntries(NAMED_PARTS.flatMap(({ files }) => Object.entries(files)));
  t.same(
    named,
    allowed,
    "more: say it in the part's declaration. Fewer: take it from helper/named-parts.ts",
  );
});

t.test("a name is found, and neither a kind of engine nor who logs is one", async (t) => {
  t.equal(namedIn('const A = ["vault", "nats"];'), 2);
  t.equal(namedIn('if (containerEngine.kind === "podman") leave({ loggedBy: "coordinator" })'), 0);
});
