/** Writes the tables that the policies decide: `node parts/coordinator/test/authorization/write-tables.ts` after a change of a rule. Tests compare them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Action, ACTIONS } from "../../src/authorization/actions.ts";
import { cellsOf } from "./cells.ts";
import { dutiesTable } from "./duties-table.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..", "..");
const DUTIES = join(ROOT, "docs", "auditor", "duties.md");
const README = join(ROOT, "parts", "coordinator", "src", "authorization", "README.md");

const before = readFileSync(DUTIES, "utf8");
writeFileSync(
  DUTIES,
  before.replace(/\| action \|[\s\S]*?\n\n/, () => `${dutiesTable()}\n\n`),
);

const rows = readFileSync(README, "utf8")
  .split("\n")
  .map((line) => {
    const action = /^\| `([^`]+)` \| (?:[^|]+ \| ){3}[^|]+ \|$/.exec(line)?.[1];
    if (action === undefined || !Object.hasOwn(ACTIONS, action)) return line;
    return `| \`${action}\` | ${ACTIONS[action as Action]} | ${cellsOf(action as Action)} |`;
  });
writeFileSync(README, rows.join("\n"));
