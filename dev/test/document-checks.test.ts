/** What the checks of documents find, on made-up ones. */
import t from "tap";
import { type CommandTable, type Programs, unknownCommands } from "../documents/commands.ts";
import { deadLinks, deadPaths, type Tree } from "../documents/links.ts";
import { readMarkdown } from "../documents/markdown.ts";
import { routesIn, unknownRoutes } from "../documents/routes.ts";
import { lengthsOf, sentencesOf } from "../documents/sentences.ts";

const what = (findings: readonly { line: number; what: string }[]) =>
  findings.map((one) => `${one.line}: ${one.what}`);

t.test("a link to a file or a heading that is not there is found", async (t) => {
  const files: Readonly<Record<string, string>> = {
    "docs/a.md": "# A\n\n## What `b` is\n\n## What b is\n",
    "docs/b/c.md": "# C",
  };
  const tree: Tree = {
    read: (path) => files[path] ?? null,
    isThere: (path) => path in files || path === "docs",
  };
  const markdown = [
    "[a](../a.md) [a](../a.md#what-b-is) [a](../a.md#what-b-is-1) [docs](../../docs) [far](https://example.org/x.md)",
    "[gone](../gone.md) [no heading](../a.md#what-c-is) [none here](#nothing)",
    "```",
    "[in a block](../gone.md)",
    "```",
  ].join("\n");
  t.same(what(deadLinks("docs/b/c.md", markdown, tree)), [
    "2: the link ../gone.md leads to no file",
    "2: the link ../a.md#what-c-is leads to no heading of docs/a.md",
    "2: the link #nothing leads to no heading of docs/b/c.md",
  ]);
  t.same(
    what(deadPaths("x.md", "`docs/a.md` `docs/gone.ts` `docs/x/` `other/gone.ts`", ["docs"], tree)),
    ["1: there is no file docs/gone.ts"],
  );
});

const table = (
  options: Record<string, boolean>,
  subcommands: Record<string, CommandTable> = {},
): CommandTable => ({
  options: new Map(Object.entries(options)),
  subcommands: new Map(Object.entries(subcommands)),
});
const programs: Programs = {
  scripts: new Set(["check", "prove"]),
  tables: new Map([
    [
      "appliance",
      table(
        { "--root": true },
        {
          logs: table({ "-f": false, "-n": true }),
          user: table({}, { quota: table({}), ls: table({ "--json": false }) }),
        },
      ),
    ],
    ["sh install.sh", table({ "--name": true, "--yes": false }, { resume: table({}) })],
    ["npm run prove --", { ...table({}), words: new Set(["soak"]) }],
  ]),
};
const unknown = (markdown: string) => what(unknownCommands("x.md", markdown, programs));

t.test("commands that the programs have pass, whatever stands for their arguments", async (t) => {
  const good = [
    "`appliance` `appliance logs [PART] [-f] [-n LINES]` `appliance user quota anna 500GB` `appliance user ls [--json]` `appliance user …`",
    "`<root>/current/bin/appliance --root /opt/x user ls` `sudo appliance user ls --help` `--name` `the appliance thing`",
    "```",
    "sh install.sh --name a.example --yes && appliance user ls",
    "sh install.sh resume      # goes on",
    "npm run check",
    "npm run prove -- soak 60",
    "npm run prove -- NAME",
    "```",
  ];
  t.same(unknown(good.join("\n")), []);
});

t.test("a command, option, script or word that no program has is found", async (t) => {
  t.same(unknown("`appliance users ls`"), ["1: appliance has no command users"]);
  t.same(unknown("`appliance user remove NAME`"), ["1: appliance user has no command remove"]);
  t.same(unknown("```\n$ sudo /opt/x/bin/appliance logs --since 3\n```"), [
    "2: appliance logs has no option --since",
  ]);
  t.same(unknown("```\nsh install.sh --yes && appliance user ls --table\n```"), [
    "2: appliance user ls has no option --table",
  ]);
  t.same(unknown("`sh install.sh upgrade`"), ["1: sh install.sh has no command upgrade"]);
  t.same(unknown("`npm run deploy`"), ["1: package.json has no script deploy"]);
  t.same(unknown("`npm run prove -- sook`"), ["1: npm run prove -- knows no sook"]);
  t.same(unknown("`--quiet`"), ["1: no program of ours has the option --quiet"]);
});

t.test("a request that the API does not answer is found", async (t) => {
  const routes = new Set(
    routesIn('app.get(\n    "/api/tasks/:id",\n  {}); app.post("/api/tasks", {});'),
  );
  t.same([...routes], ["GET /api/tasks/*", "POST /api/tasks"]);
  const markdown =
    "`GET /api/tasks/<id>` `POST /api/tasks` `GET /api/tasks/…` `GET /readyz` `DELETE /api/tasks/<id>`";
  t.same(what(unknownRoutes("x.md", markdown, routes)), [
    "1: the API has no route DELETE /api/tasks/<id>",
  ]);
});

t.test(
  "sentences are those of prose: code is a word, a link its text; tables, blocks and headings are none",
  async (t) => {
    const markdown = `# A heading is none

One two three. auditd ends it: \`code of many words\` and
[a link](x.md). Is 4.3 a number? (It is.)

| a table | is none |
|---|---|

- an item
- another one
  goes on

1. \`a command\`: you see two words.

\`\`\`
a block is none.
\`\`\`
`;
    t.same(
      sentencesOf(markdown).map(({ line, text, words }) => [line, words, text]),
      [
        [3, 3, "One two three."],
        [3, 7, "auditd ends it: Code and a link."],
        [3, 4, "Is 4.3 a number?"],
        [3, 2, "(It is.)"],
        [9, 2, "an item"],
        [10, 4, "another one goes on"],
        [13, 5, "Code: you see two words."],
      ],
    );
    t.same(lengthsOf(sentencesOf(`${"word ".repeat(26)}. Two words.`)), {
      sentences: 2,
      mean: 14,
      longest: 26,
      above25: 1,
    });
    t.same(lengthsOf([]), { sentences: 0, mean: 0, longest: 0, above25: 0 });
  },
);

t.test("pictures are not code", async (t) => {
  t.same(readMarkdown("```mermaid\nappliance nonsense\n```\n\n```sh\nls\n```").code, [
    { line: 6, text: "ls", isInline: false },
  ]);
});
