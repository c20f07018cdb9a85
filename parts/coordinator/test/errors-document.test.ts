import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CATALOGUE, type ErrorCode } from "@resontech/contracts/error-catalogue";
import t from "tap";

const repository = join(import.meta.dirname, "../../..");
const CODES = Object.entries(ERROR_CATALOGUE) as [ErrorCode, { status: number; hint: string }][];

t.test("docs/errors.md says what the catalogue says", async (t) => {
  const rows = readFileSync(join(repository, "docs/errors.md"), "utf8")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  t.same(
    rows,
    CODES.map(([code, { status, hint }]) => `| \`${code}\` | ${status} | ${hint} |`),
  );
});

t.test("every code can happen, and its hint says what to do", async (t) => {
  const sources = globSync(
    ["parts/{coordinator,door}/src/**/*.ts", "contracts/src/http/changed-files.ts"],
    {
      cwd: repository,
    },
  ).map((file) => readFileSync(join(repository, file), "utf8"));
  const text = sources.join("\n");
  for (const [code, { hint }] of CODES) {
    t.ok(text.includes(`"${code}"`), `${code} is used`);
    t.match(hint, /^[A-Z`].*\.$/, code);
  }
});
