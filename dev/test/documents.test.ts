/** The documents of this tree say nothing that is not there: links, commands, options, files, routes. Their sentences are short. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readPrograms } from "../documents/command-tables.ts";
import { type CommandTable, unknownCommands } from "../documents/commands.ts";
import { documentsOf } from "../documents/documents.ts";
import { describeFinding, type Finding } from "../documents/finding.ts";
import { deadLinks, deadPaths, type Tree } from "../documents/links.ts";
import { readMarkdown } from "../documents/markdown.ts";
import { routesIn, unknownRoutes } from "../documents/routes.ts";
import { readRooms } from "@resontech/house/read-rooms";
import { MAX_WORDS, sentencesOf } from "../documents/sentences.ts";

const repository = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(repository, path), "utf8");
const tree: Tree = {
  isThere: (path) => existsSync(join(repository, path)),
  read: (path) => (path.endsWith(".md") && existsSync(join(repository, path)) ? read(path) : null),
};
const documents = documentsOf(repository);
const programs = await readPrograms();
const rooms = [...readRooms(repository), "dev", "docs", "examples"];

/** Decisions tell what was so, features and roadmap what is not there yet. */
const TELLS_OF_NOW = (document: string): boolean =>
  !document.startsWith("docs/decisions/") &&
  !["docs/features.md", "docs/roadmap.md"].includes(document);

const findings = (
  of: (document: string, markdown: string) => readonly Finding[],
  among = documents,
): string[] => among.flatMap((document) => of(document, read(document)).map(describeFinding));

t.test("every link leads to a file, and to a heading where it names one", async (t) => {
  t.same(
    findings((document, markdown) => deadLinks(document, markdown, tree)),
    [],
  );
});

t.test("every file of this tree that a document names is there", async (t) => {
  t.same(
    findings(
      (document, markdown) => deadPaths(document, markdown, rooms, tree),
      documents.filter(TELLS_OF_NOW),
    ),
    [],
  );
});

t.test(
  "every command and option that a document names is in its program's own table",
  async (t) => {
    t.same(
      findings(
        (document, markdown) => unknownCommands(document, markdown, programs),
        documents.filter(TELLS_OF_NOW),
      ),
      [],
    );
  },
);

t.test("every request that a document names is a route of the API", async (t) => {
  const sources = globSync("parts/coordinator/src/http/routes/*.ts", { cwd: repository });
  const routes = new Set(sources.flatMap((source) => routesIn(read(source))));
  t.ok(routes.has("POST /api/tasks"));
  t.same(
    findings(
      (document, markdown) => unknownRoutes(document, markdown, routes),
      documents.filter(TELLS_OF_NOW),
    ),
    [],
  );
});

t.test("every document that the code refers to is there", async (t) => {
  const sources = globSync(
    [
      "{*,parts/*}/src/**/*.ts",
      "{*,parts/*}/test/**/*.ts",
      "proofs/**/*.ts",
      "dev/**/*.ts",
      "install.sh",
    ],
    {
      cwd: repository,
      exclude: ["**/node_modules/**"],
    },
  );
  // The tests of this room name made-up ones.
  const named = sources
    .filter((source) => !source.startsWith("dev/test/"))
    .flatMap((source) =>
      [...read(source).matchAll(/(?<![\w./-])docs\/[\w./-]+\.md\b/g)].map(([document]) => ({
        source,
        document,
      })),
    );
  t.ok(named.length > 5);
  t.same(
    named.filter(({ document }) => !tree.isThere(document)),
    [],
  );
});

const operatorCode = documents
  .filter((document) => document.startsWith("docs/operator/"))
  .flatMap((document) => readMarkdown(read(document)).code.map(({ text }) => text));

t.test("every command of `appliance` stands in a page for operators", async (t) => {
  const appliance = programs.tables.get("appliance");
  const leaves = (path: string, { subcommands }: CommandTable): string[] =>
    subcommands.size === 0
      ? [path]
      : [...subcommands].flatMap(([name, below]) => leaves(`${path} ${name}`, below));
  const commands = leaves("appliance", appliance ?? { options: new Map(), subcommands: new Map() });
  t.ok(commands.length > 40);
  t.same(
    commands.filter(
      (command) => !operatorCode.some((text) => text === command || text.startsWith(`${command} `)),
    ),
    [],
  );
});

t.test(
  "every finding of `appliance status` and of the preflight stands in a page for operators",
  async (t) => {
    const sources = globSync(["appliance/src/**/*.ts", "parts/*/{src/**/*,part}.ts"], {
      cwd: repository,
    }).map(read);
    const codes = sources
      .filter((source) => source.includes("@resontech/frame/finding"))
      .flatMap((source) =>
        [...source.matchAll(/"([a-z0-9]+(?:_[a-z0-9]+)+)"/g)].map(([, code = ""]) => code),
      );
    const checks = read("installer/src/preflight/checks.ts");
    const ids = [...checks.matchAll(/\b(?:need|warn)\(\s*"([a-z-]+)"/g)].map(([, id = ""]) => id);
    t.ok(
      codes.includes("audit_rolled_back") &&
        codes.includes("realm_drift") &&
        ids.includes("job-ports"),
    );
    // What the vault says, and the coordinator: no findings.
    const others = new Set(["spool_blocked"]);
    t.same(
      [...codes, ...ids].filter((code) => !others.has(code) && !operatorCode.includes(code)),
      [],
    );
  },
);

t.test(
  "every code that `appliance` and the installer fail with stands in a page for operators",
  async (t) => {
    const sources = globSync(["appliance/src/**/*.ts", "installer/src/**/*.ts"], {
      cwd: repository,
    });
    const codes = sources.flatMap((source) =>
      [...read(source).matchAll(/\breadonly code(?::| =)((?:\s*\|?\s*"[a-z_]+")+)/g)].flatMap(
        ([, union = ""]) => [...union.matchAll(/[a-z_]+/g)].map(([code]) => code),
      ),
    );
    t.ok(codes.includes("not_running") && codes.includes("journal_damaged"));
    // Faults of the program itself: a command without a declaration, a realm of the release with a variable.
    const ours = new Set(["undeclared_command", "realm_variable"]);
    t.same(
      codes.filter((code) => !ours.has(code) && !operatorCode.includes(code)),
      [],
    );
  },
);

t.test(`a sentence of a document that tells of now has at most ${MAX_WORDS} words`, async (t) => {
  const long = documents
    .filter(TELLS_OF_NOW)
    .flatMap((document) =>
      sentencesOf(read(document)).map((sentence) => ({ document, ...sentence })),
    )
    .filter(({ words }) => words > MAX_WORDS);
  t.same(
    long.map(({ document, line, words, text }) => `${document}:${line}: ${words} words: ${text}`),
    [],
  );
});
