/** The documents of this tree say nothing that is not there: links, commands, options, files. Those that people work by have short sentences. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { readPrograms } from "../documents/command-tables.ts";
import { unknownCommands } from "../documents/commands.ts";
import { documentsOf } from "../documents/documents.ts";
import { describeFinding, type Finding } from "../documents/finding.ts";
import { deadLinks, deadPaths, type Tree } from "../documents/links.ts";
import { MAX_WORDS, sentencesOf } from "../documents/sentences.ts";

const repository = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(repository, path), "utf8");
const tree: Tree = {
  isThere: (path) => existsSync(join(repository, path)),
  read: (path) => (path.endsWith(".md") && existsSync(join(repository, path)) ? read(path) : null),
};
const documents = documentsOf(repository);
const { workspaces } = JSON.parse(read("package.json")) as { workspaces: string[] };
const rooms = [...workspaces, "dev", "docs", "examples"];

/** Decisions tell what was so, features and roadmap what is not there yet. */
const TELLS_OF_NOW = (document: string): boolean =>
  !document.startsWith("docs/decisions/") && !["docs/features.md", "docs/roadmap.md"].includes(document);
const IS_WORKED_BY = (document: string): boolean => /^(?:README\.md|docs\/(?:operator|researcher|auditor)\/)/.test(document);

const findings = (of: (document: string, markdown: string) => readonly Finding[], among = documents): string[] =>
  among.flatMap((document) => of(document, read(document)).map(describeFinding));

t.test("every link leads to a file, and to a heading where it names one", async (t) => {
  t.same(findings((document, markdown) => deadLinks(document, markdown, tree)), []);
});

t.test("every file of this tree that a document names is there", async (t) => {
  t.same(findings((document, markdown) => deadPaths(document, markdown, rooms, tree), documents.filter(TELLS_OF_NOW)), []);
});

t.test("every command and option that a document names is in its program's own table", async (t) => {
  const programs = await readPrograms();
  t.same(findings((document, markdown) => unknownCommands(document, markdown, programs), documents.filter(TELLS_OF_NOW)), []);
});

t.test("every document that the code refers to is there", async (t) => {
  const sources = globSync(["*/src/**/*.ts", "*/test/**/*.ts", "proofs/**/*.ts", "dev/**/*.ts", "installer/install.sh"], {
    cwd: repository,
    exclude: ["**/node_modules/**"],
  });
  const named = sources.flatMap((source) =>
    [...read(source).matchAll(/(?<![\w./-])docs\/[\w./-]+\.md\b/g)].map(([document]) => ({ source, document })),
  );
  t.ok(named.length > 5);
  // The one of a test on made-up paths.
  const dead = named.filter(({ document }) => document !== "docs/decisions/0001-a.md" && !tree.isThere(document));
  t.same(dead, []);
});

t.test(`a sentence that people work by has at most ${MAX_WORDS} words`, async (t) => {
  const long = documents
    .filter(IS_WORKED_BY)
    .flatMap((document) => sentencesOf(read(document)).map((sentence) => ({ document, ...sentence })))
    .filter(({ words }) => words > MAX_WORDS);
  t.same(
    long.map(({ document, line, words, text }) => `${document}:${line}: ${words} words: ${text}`),
    [],
  );
});
