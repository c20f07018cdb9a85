import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { getDocumentProxy } from "unpdf";
import { csvLine } from "../src/evidence/csv.ts";
import { tokenOf } from "../src/evidence/oscal.ts";
import { uuidV5 } from "../src/evidence/uuid-v5.ts";
import { writeEvidence } from "../src/evidence/write-evidence.ts";
import { hashLeaf } from "@resontech/audit/format/tree/merkle";
import { jobSubmit } from "@resontech/audit/testing/event-drafts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { lacksMount, SmallDisk } from "@resontech/audit/testing/small-disk";
import { keyLists, WrittenLog } from "./helper/written-log.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

const VERIFIER = shippedProgram("sov-verify");
const NONCE = "5a".repeat(32);
const CONTROLS = join(import.meta.dirname, "../../../policies/controls.json");

t.test("no cell is taken for a formula, and none ends before its end", async (t) => {
  for (const hostile of [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "|calc",
    "%0A=1",
    "\t=1",
    "\r=1",
    " =1",
    "\n=cmd|' /C calc'!A0",
  ])
    t.match(csvLine([hostile]), /^"'/, JSON.stringify(hostile));
  t.equal(csvLine(['a "quoted", cell', "plain", 5]), '"a ""quoted"", cell","plain",5\r\n');
  t.equal(csvLine(["2026-03-01"]), '"2026-03-01"\r\n');
});

t.test("a UUID comes from its name alone", async (t) => {
  t.equal(uuidV5("a"), uuidV5("a"));
  t.not(uuidV5("a"), uuidV5("b"));
  t.match(uuidV5("a"), /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

/** A type that bears on controls of other frameworks alone. */
const OF_NO_ARTICLE = "iam.user.left" as const;

t.test(
  "a pack counts what the log holds for each control, is the same for the same tree, and replaces nothing",
  async (t) => {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    const leaves = await log.append([
      ...keyLists(300).map((one) => ({ ...one, type: OF_NO_ARTICLE })),
      { ...jobSubmit(), phase: "requested" },
      { ...jobSubmit(), phase: "requested" },
    ]);
    const run = (framework: string, out: string) =>
      writeEvidence(log.options, {
        framework,
        controlsFile: CONTROLS,
        verifierFile: VERIFIER,
        outFolder: join(root, out),
      });
    const read = (out: string, file: string): string => readFileSync(join(root, out, file), "utf8");
    t.match(await run("gdpr", "one"), {
      operations: 2,
      shards: [{ origin: "box.audit.acme/2026", size: 302, file: "log-2026.tar" }],
    });
    t.match(
      read("one", "controls.csv"),
      /^"Article 30","Records of processing activities",2,0,0,2,2,"coordinator-gate 2","2026:300","2026:301","Purposes[^"]+"\r$/m,
    );
    t.match(
      read("one", "controls.csv"),
      /^"Article 17","[^"]+",0,0,0,0,0,"","","","Copies[^"]+"\r$/m,
    );
    const events = read("one", "operations.csv").trimEnd().split("\r\n");
    t.equal(events.length, 3, "what bears on no control of this framework is left out");
    t.match(
      events[2],
      new RegExp(
        `^"2026:301","","[^"]+","","","job.submit","open","none","","user","usr-1","","","","","","job","job-1","coordinator-gate","","${hashLeaf(leaves[301]!).toString("hex")}","","","Article 30"$`,
      ),
    );
    const results = JSON.parse(read("one", "assessment-results.json"))["assessment-results"];
    t.match(
      results.results[0].observations.find(({ title }: { title: string }) =>
        title.startsWith("Article 30 Records"),
      ),
      {
        props: [
          { value: "Article 30" },
          { name: "operations", value: "2" },
          { name: "refused", value: "0" },
          { name: "failed", value: "0" },
          { name: "open", value: "2" },
          {},
        ],
        "relevant-evidence": [
          { props: [{ name: "entry", value: "2026:300" }] },
          { props: [{ name: "entry", value: "2026:301" }] },
        ],
        remarks: /^What the log can't show: /,
      },
    );
    t.equal(statSync(join(root, "one")).mode & 0o007, 0);
    await run("gdpr", "two");
    const files = [
      "SHA256SUMS",
      "assessment-results.json",
      "controls.csv",
      "exceptions.csv",
      "log-2026.tar",
      "operations.csv",
      "questions.csv",
      "report.pdf",
      "roles.csv",
      "verdicts.json",
    ];
    t.same(readdirSync(join(root, "one")).sort(), files);
    for (const file of files)
      t.ok(
        readFileSync(join(root, "two", file)).equals(readFileSync(join(root, "one", file))),
        file,
      );
    const sums = read("one", "SHA256SUMS");
    for (const file of files.slice(1))
      t.ok(
        sums.includes(
          `${createHash("sha256")
            .update(readFileSync(join(root, "one", file)))
            .digest("hex")}  ${file}\n`,
        ),
        file,
      );
    await t.rejects(run("gdpr", "one"), { code: "config_invalid", message: /there already/ });
    await t.rejects(run("iso", "three"), { message: /there is no framework iso/ });
    await t.rejects(run("constructor", "four"), { message: /there is no framework/ });
  },
);

type PlacedText = { str: string; width: number; transform: number[] };

/** A report as somebody else's reader of PDF shows it: each page's pieces of text and where they stand. */
async function readReport(
  file: string,
): Promise<{ created: unknown; pages: PlacedText[][]; texts: string[] }> {
  const document = await getDocumentProxy(new Uint8Array(readFileSync(file)));
  const { info } = await document.getMetadata();
  const pages: PlacedText[][] = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const { items } = await (await document.getPage(number)).getTextContent();
    pages.push(items.filter((item) => "str" in item));
  }
  const texts = pages.map((items) =>
    items
      .map(({ str }) => str)
      .join(" ")
      .replaceAll(/ +/g, " "),
  );
  return { created: (info as { CreationDate?: unknown }).CreationDate, pages, texts };
}

t.test(
  "the report says what the pack is about, what it holds, how to check it and what it does not prove",
  async (t) => {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    await log.append([...keyLists(300), { ...jobSubmit(), phase: "requested" }]);
    await writeEvidence(log.options, {
      framework: "gdpr",
      controlsFile: CONTROLS,
      verifierFile: VERIFIER,
      outFolder: join(root, "pack"),
    });
    const { created, texts } = await readReport(join(root, "pack/report.pdf"));
    const text = texts.join(" ");
    const [, , signedRoot = ""] = readFileSync(join(log.logDir, "checkpoint"), "utf8").split("\n");
    for (const said of [
      JSON.parse(readFileSync(CONTROLS, "utf8")).gdpr.title,
      "box.audit.acme/2026",
      `Root ${signedRoot}`,
      "301, with the indices 0 to 300",
      "2026-03-01T00:00:01.000Z to 2026-03-01T00:05:01.000Z",
      "Article 30 Records of processing activities 1 0 0 1",
      "No operation that bears on a control of this framework was refused.",
      "Article 30 coordinator-gate 1",
      "Article 30 Purposes, legal bases and recipients outside",
      "sha256sum --check SHA256SUMS",
      "node sov-verify.mjs log-2026.tar --policy audit.policy",
      "What this pack does not prove",
    ])
      t.ok(text.includes(said), said);
    for (const file of readdirSync(join(root, "pack"))) t.ok(text.includes(file), file);
    t.equal(
      created,
      "D:20260301000501Z",
      "its date is the newest entry's, and not that of its writing",
    );
    t.notMatch(text, /usr-1/, "nobody is named");
  },
);

t.test(
  "every row says what became of it and who told it, and what was refused counts as no access",
  async (t) => {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    const object = { kind: "object", id: "a".repeat(64) } as const;
    const fact = { ...jobSubmit(), phase: "fact", object } as const;
    const read = (status: number, code: string) =>
      ({
        ...fact,
        type: "data.object.read",
        outcome: { code, status },
        detail: { status, bytes: 0 },
      }) as const;
    await log.append([
      read(200, "ok"),
      read(404, "NoSuchKey"),
      // As releases before this one wrote it.
      read(403, "AccessDenied"),
      {
        ...{ ...fact, type: "data.object.refused", actor: { sub: "unproven", kind: "anonymous" } },
        ...{
          outcome: { code: "SignatureDoesNotMatch", status: 403 },
          src: { addr: "b".repeat(64) },
        },
        detail: { status: 403, code: "SignatureDoesNotMatch", claimed: "usr-9" },
      },
      {
        ...fact,
        type: "auth.failure",
        object: { kind: "appliance", id: "appliance" },
        detail: { reason: "key_expired", count: 3, window_s: 60 },
      },
    ]);
    await writeEvidence(log.options, {
      framework: "gdpr",
      controlsFile: CONTROLS,
      verifierFile: VERIFIER,
      outFolder: join(root, "pack"),
    });
    const file = (name: string): string => readFileSync(join(root, "pack", name), "utf8");
    const [head = "", ...rows] = file("operations.csv").trimEnd().split("\r\n");
    const cells = (line: string): string[] =>
      line.split(",").map((cell) => cell.replaceAll('"', ""));
    const column = (name: string): number => cells(head).indexOf(name);
    t.same(
      rows.map((row) =>
        ["result", "code", "status", "actor", "claimed", "source", "controls"].map(
          (name) => cells(row)[column(name)],
        ),
      ),
      [
        ["done", "ok", "200", "usr-1", "", "coordinator-gate", "Article 15"],
        ["failed", "NoSuchKey", "404", "usr-1", "", "coordinator-gate", "Article 15"],
        ["refused", "AccessDenied", "403", "usr-1", "", "coordinator-gate", "Article 15"],
        [
          "refused",
          "SignatureDoesNotMatch",
          "403",
          "unproven",
          "usr-9",
          "coordinator-gate",
          "Article 32",
        ],
        ["refused", "key_expired", "", "usr-1", "", "coordinator-gate", "Article 32"],
      ],
    );
    t.equal(cells(rows[3]!)[column("address")], "b".repeat(64));
    t.match(file("controls.csv"), /^"Article 15","[^"]+",3,1,1,0,3,/m);
    t.match(file("controls.csv"), /^"Article 32","[^"]+",2,2,0,0,2,/m);
    const { texts } = await readReport(join(root, "pack/report.pdf"));
    for (const said of [
      "data.object.read AccessDenied 1 2026:2",
      "data.object.refused SignatureDoesNotMatch 1 2026:3",
      "auth.failure key_expired 1 2026:4",
    ])
      t.ok(texts.join(" ").includes(said), said);
  },
);

t.test(
  "HIPAA is cited as it is written, and nothing in the OSCAL file leads nowhere",
  async (t) => {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    await log.append([{ ...jobSubmit(), phase: "requested" }]);
    await writeEvidence(log.options, {
      framework: "hipaa",
      controlsFile: CONTROLS,
      verifierFile: VERIFIER,
      outFolder: join(root, "pack"),
    });
    const file = (name: string): Buffer => readFileSync(join(root, "pack", name));
    t.match(file("controls.csv").toString(), /^"164\.308\(a\)\(1\)\(ii\)\(D\)",/m);
    t.match(file("operations.csv").toString(), /"164\.312\(b\)"\r$/m);
    const { "assessment-results": results } = JSON.parse(
      file("assessment-results.json").toString(),
    );
    const resources: { uuid: string; rlinks?: { href: string; hashes: { value: string }[] }[] }[] =
      results["back-matter"].resources;
    const hrefs: string[] = [];
    JSON.stringify(results, (name, value) => {
      if (name === "href") hrefs.push(value);
      return value;
    });
    t.ok(hrefs.length >= 6, hrefs.join(" "));
    for (const href of hrefs)
      if (href.startsWith("#"))
        t.ok(
          resources.some(({ uuid }) => `#${uuid}` === href),
          href,
        );
      else t.ok(readdirSync(join(root, "pack")).includes(href), href);
    for (const { rlinks = [] } of resources)
      for (const { href, hashes } of rlinks)
        t.equal(hashes[0]?.value, createHash("sha256").update(file(href)).digest("hex"), href);
    const tokens: string[] = results.results[0]["reviewed-controls"]["control-selections"][0][
      "include-controls"
    ].map((control: { "control-id": string }) => control["control-id"]);
    t.ok(tokens.includes("c-164.308-a-1-ii-D"));
    for (const token of tokens) t.match(token, /^[\p{L}_][\p{L}\p{N}.\-_]*$/u);
  },
);

t.test("ids of one framework stay apart in OSCAL's form", async (t) => {
  const map = JSON.parse(readFileSync(CONTROLS, "utf8")) as Record<
    string,
    { controls: { id: string }[] }
  >;
  for (const [framework, { controls }] of Object.entries(map))
    t.equal(new Set(controls.map(({ id }) => tokenOf(id))).size, controls.length, framework);
});

t.test("a log without an entry has a report, too", async (t) => {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  await writeEvidence(log.options, {
    framework: "gdpr",
    controlsFile: CONTROLS,
    verifierFile: VERIFIER,
    outFolder: join(root, "pack"),
  });
  const { created, texts } = await readReport(join(root, "pack/report.pdf"));
  t.match(texts[0], /the log has no entry yet/);
  t.equal(created, undefined);
});

/** A pack for a framework of the test's own, on a small log. */
async function reportFor(t: Test, framework: object): ReturnType<typeof readReport> {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  await log.append(keyLists(3));
  const controlsFile = join(root, "controls.json");
  writeFileSync(controlsFile, JSON.stringify({ own: framework }));
  await writeEvidence(log.options, {
    framework: "own",
    ...{ controlsFile, verifierFile: VERIFIER },
    outFolder: join(root, "pack"),
  });
  return await readReport(join(root, "pack/report.pdf"));
}

t.test(
  "a table goes on over pages with its head repeated, every page is numbered, and no control is lost",
  async (t) => {
    const controls = Array.from({ length: 200 }, (_, at) => ({
      ...{
        id: `C-${at}.`,
        title: `Control of the number ${at}: ${"more words ".repeat(at % 15)}`,
        limits: "l",
        types: ["key.list"],
      },
    }));
    const { texts } = await reportFor(t, { title: "Many controls", controls });
    t.ok(texts.length > 5, `${texts.length} pages`);
    const inTable = (text: string): boolean => /Control of the number/.test(text);
    for (const [at, text] of texts.entries()) {
      t.match(text, new RegExp(`page ${at + 1} of ${texts.length}$`));
      if (inTable(text))
        t.match(
          text,
          /^Control Title Operations Refused Failed Open C-|for each control .* Open C-/,
          `head of page ${at + 1}`,
        );
    }
    const counted = texts.filter(inTable).join(" ");
    for (const { id } of controls) t.ok(counted.includes(` ${id} `), id);
  },
);

t.test("hostile text is shown as what it is, and nothing runs out of its page", async (t) => {
  const controls = [
    { id: "A".repeat(80), title: "\u00DE".repeat(200), limits: "l", types: ["key.list"] },
    {
      id: "B-1",
      title:
        "mail\u0000 \u202Egnp.exe\u2066 \u00AD \u4E2D\u6587 \u{1F600} \uD800 \u007F caf\u00E9 5 \u20AC",
      limits: "\u00DF".repeat(400),
      types: ["key.list"],
    },
    { id: "B-2", title: "two\nlines\r\tand a tab", limits: "l", types: ["key.list"] },
    {
      id: "B-3",
      title: "more lines than a page has",
      limits: "l",
      types: Array.from({ length: 200 }, () => "data.object.refused"),
    },
    {
      id: "B-4",
      title: "(unbalanced \\) <</JavaScript (x)>> endstream",
      limits: "l",
      types: ["key.list"],
    },
  ];
  const { pages, texts } = await reportFor(t, { title: `\u202E${"x".repeat(199)}`, controls });
  const text = texts.join(" ");
  for (const shown of [
    "mail\\u{0}",
    "\\u{202e}gnp.exe",
    "\\u{2066} \\u{ad}",
    "\\u{4e2d}\\u{6587}",
    "\\u{1f600} \\u{d800}",
    "\\u{7f} caf\u00E9 5 \u20AC",
    "two\\u{a}lines\\u{d}\\u{9}and a tab",
    "(unbalanced \\) <</JavaScript",
  ])
    t.ok(text.includes(shown), shown);
  t.notMatch(text, /[^\n\P{C}]/u);
  t.equal(
    text.match(/data\.object\.refused/g)?.length,
    200,
    "a row that is higher than a page goes on with the next one",
  );
  t.equal(text.match(/\u00DF/g)?.length, 400);
  t.equal(text.match(/\u00DE/g)?.length, 200, "no letter of a word without an end is lost");
  for (const { str, width, transform } of pages.flat())
    if (
      transform[4]! < 50 ||
      transform[4]! + width > 545 ||
      transform[5]! < 35 ||
      transform[5]! > 795
    )
      t.fail(`outside of the margins: ${str}`);
});

t.test("the verifier bears out the bundle of a pack", async (t) => {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  await log.append(keyLists(300));
  await writeEvidence(log.options, {
    framework: "soc2",
    controlsFile: CONTROLS,
    verifierFile: VERIFIER,
    outFolder: join(root, "pack"),
  });
  const { stdout } = spawnSync(
    process.execPath,
    [VERIFIER, join(root, "pack/log-2026.tar"), "--policy", log.policyFile],
    {
      encoding: "utf8",
    },
  );
  t.match(stdout, /INTEGRITY +PASS/);
  t.match(stdout, /SIGNATURE +PASS/);
});

t.test("of a log that goes on meanwhile the tables count what the bundle holds", async (t) => {
  const root = temporaryFolder(t);
  const log = await new WrittenLog(root).open("2026");
  await log.append(keyLists(300));
  const over = new AbortController();
  const growing = (async () => {
    while (!over.signal.aborted) await log.append(keyLists(1));
  })();
  const {
    shards: [pack],
  } = await writeEvidence(log.options, {
    framework: "gdpr",
    controlsFile: CONTROLS,
    verifierFile: VERIFIER,
    outFolder: join(root, "pack"),
  });
  over.abort();
  await growing;
  t.ok(log.size > pack!.size, `${log.size} entries, ${pack!.size} of them in the bundle`);
  const { texts } = await readReport(join(root, "pack/report.pdf"));
  t.ok(texts[0]!.includes(`${pack!.size}, with the indices 0 to ${pack!.size - 1}`));
  const { stdout } = spawnSync(
    process.execPath,
    [VERIFIER, join(root, "pack/log-2026.tar"), "--policy", log.policyFile, "--json"],
    {
      encoding: "utf8",
    },
  );
  const { size, root: signedRoot } = JSON.parse(stdout).checkpoint;
  t.equal(size, pack!.size);
  t.ok(texts[0]!.includes(`Root ${signedRoot}`), "the verifier names the root of the report");
});

t.test(
  "where a checkpoint that witnesses countersigned covers the request, the pack is of that one",
  async (t) => {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    await log.append(keyLists(300));
    copyFileSync(join(log.logDir, "checkpoint"), join(log.logDir, "checkpoint.witnessed"));
    await log.append(keyLists(400));
    const packOf = (out: string, witnessedFor: number) =>
      writeEvidence(log.options, {
        ...{ framework: "gdpr", controlsFile: CONTROLS, verifierFile: VERIFIER, witnessedFor },
        outFolder: join(root, out),
      });
    t.match((await packOf("covered", 299)).shards, [{ size: 300 }]);
    t.match((await packOf("newer", 300)).shards, [{ size: 700 }]);
    const { texts } = await readReport(join(root, "covered/report.pdf"));
    const [, , signedRoot = ""] = readFileSync(
      join(log.logDir, "checkpoint.witnessed"),
      "utf8",
    ).split("\n");
    t.ok(texts[0]!.includes("300, with the indices 0 to 299"));
    t.ok(texts[0]!.includes(`Root ${signedRoot}`));
  },
);

/** Counts operations of a framework from exports alone, by a way of its own: what the verifier lists, paired by operation. */
function countedFrom(
  exports: readonly string[],
  policyFile: string,
  framework: string,
  [from, to]: [string, string],
): Record<string, string> {
  type Shown = { event: { t_log: string; type: string; phase: string; op: string } };
  const map = JSON.parse(readFileSync(CONTROLS, "utf8"));
  const asked = new Map<string, { type: string; time: string; isOpen: boolean }>();
  for (const file of exports) {
    const { stdout } = spawnSync(
      process.execPath,
      [VERIFIER, file, "--policy", policyFile, "--list", "--json"],
      { encoding: "utf8", maxBuffer: 64 * 1_048_576 },
    );
    for (const line of stdout.trimEnd().split("\n").slice(1)) {
      const { type, phase, t_log: time, op } = (JSON.parse(line) as Shown).event;
      const name = `${op} ${type}`;
      if (phase === "requested") asked.set(name, { type, time, isOpen: true });
      else if (asked.has(name)) asked.get(name)!.isOpen = false;
      else asked.set(name, { type, time, isOpen: false });
    }
  }
  const within = [...asked.values()].filter(({ time }) => time >= from && time < to);
  return Object.fromEntries(
    (map[framework].controls as { id: string; types: string[] }[]).map(({ id, types }) => {
      const of = within.filter(({ type }) => types.includes(type));
      return [id, `${of.length}, ${of.filter(({ isOpen }) => isOpen).length} open`];
    }),
  );
}

t.test(
  "a period over two shards has each operation once: tables, report and OSCAL agree with a count from the exports by another program",
  async (t) => {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    const [before, across, whole] = [jobSubmit(), jobSubmit(), jobSubmit()];
    const done = { phase: "completed", outcome: { code: "ok" } } as const;
    await log.append([
      { ...before, phase: "requested" },
      ...keyLists(3),
      { ...before, ...done },
      { ...whole, phase: "requested" },
      { ...whole, ...done },
      { ...across, phase: "requested" },
    ]);
    await log.open("2027");
    await log.append([
      {
        type: "audit.op.carried",
        phase: "fact",
        op: across.op,
        actor: { sub: "auditd", kind: "system" },
        object: { kind: "log", id: "box" },
        detail: {
          ...{ origin: "box.audit.acme/2026", index: 7, leaf_sha256: "a".repeat(64) },
          ...{ type: "job.submit", prod: "coordinator-gate" },
          requested_at: "2026-03-01T00:00:08.000Z",
          logged_at: "2026-03-01T00:00:08.000Z",
        },
      },
      { ...across, phase: "denied", outcome: { code: "quota_exceeded", status: 403 } },
      { ...jobSubmit(), phase: "requested" },
      ...keyLists(2),
    ]);
    const period: [string, string] = ["2026-03-01T00:00:02.000Z", "2026-03-01T00:00:13.000Z"];
    const [from, to] = period;
    const { operations, shards } = await writeEvidence(log.options, {
      ...{
        framework: "hipaa",
        controlsFile: CONTROLS,
        verifierFile: VERIFIER,
        outFolder: join(root, "pack"),
      },
      ...{ period: { from, to }, sample: { nonce: NONCE, count: 3 } },
      settings: [["leaves", "7 years"]],
    });
    t.match(shards, [
      { origin: "box.audit.acme/2026", file: "log-2026.tar", size: 8 },
      { origin: "box.audit.acme/2027", file: "log-2027.tar", size: 5 },
    ]);
    const file = (name: string): string => readFileSync(join(root, "pack", name), "utf8");
    const rows = file("operations.csv").trimEnd().split("\r\n").slice(1);
    t.equal(rows.length, operations);
    const cells = rows.map((row) => row.split(",").map((cell) => cell.replaceAll('"', "")));
    t.same(
      cells
        .filter(([, , , , , type]) => type === "job.submit")
        .map(([entry, outcome, , , ms, , result, code]) => [entry, outcome, ms, result, code]),
      [
        ["2026:5", "2026:6", "1000", "done", "ok"],
        ["2026:7", "2027:1", "2000", "refused", "quota_exceeded"],
        ["2027:2", "", "", "open", "none"],
      ],
      "what was asked for before the period is not in it, and what ended in the next shard is one line",
    );
    const counted = countedFrom(
      shards.map((one) => join(root, "pack", one.file)),
      log.policyFile,
      "hipaa",
      period,
    );
    const controls = file("controls.csv").trimEnd().split("\r\n").slice(1);
    const results = JSON.parse(file("assessment-results.json"))["assessment-results"];
    const { texts } = await readReport(join(root, "pack/report.pdf"));
    const observed: { props: { name: string; value: string }[] }[] =
      results.results[0].observations;
    for (const [at, [id, expected]] of Object.entries(counted).entries()) {
      const [, count = "", , , open = ""] =
        /^"[^"]+","[^"]*",(\d+),(\d+),(\d+),(\d+),/.exec(controls[at]!) ?? [];
      t.equal(`${count}, ${open} open`, expected, `controls.csv: ${id}`);
      const of = (name: string) => observed[at]!.props.find((prop) => prop.name === name)?.value;
      t.equal(`${of("operations")}, ${of("open")} open`, expected, `OSCAL: ${id}`);
      t.equal(
        String(rows.filter((row) => row.endsWith(`"`) && listed(row).includes(id)).length),
        count,
        `operations.csv: ${id}`,
      );
    }
    t.match(results.results[0], { start: from, end: to });
    const text = texts.join(" ");
    for (const { origin } of shards) t.ok(text.includes(`Log ${origin}`), origin);
    t.ok(text.includes(`Operations ${operations}`));
    t.match(file("exceptions.csv").split("\r\n").slice(1), [
      /^"2026:7","[^"]+","refused","job.submit","refused","quota_exceeded","usr-1",/,
      "",
    ]);
    const drawnRows = file("sample.csv").trimEnd().split("\r\n").slice(1);
    t.equal(drawnRows.length, 6, "three of each shard");
    for (const { file: bundle } of shards) {
      const { stdout } = spawnSync(
        process.execPath,
        [
          ...[VERIFIER, join(root, "pack", bundle), "--policy", log.policyFile, "--json"],
          ...["--nonce", NONCE, "--sample", "3"],
          ...["--filter", `type=!audit.heartbeat,from=${from},to=${to}`],
        ],
        { encoding: "utf8" },
      );
      const slug = bundle.replace(/^log-|\.tar$/g, "");
      const again: number[] = JSON.parse(stdout).sample.entries;
      t.same(
        drawnRows.map((row) => row.split(",")[0]).filter((entry) => entry!.startsWith(`"${slug}:`)),
        again.map((index) => `"${slug}:${index}"`),
        "the verifier draws the same ones again",
      );
      const proof = join(root, "pack", `sample/${slug}-${again[0]}.tlog-proof`);
      const judged = spawnSync(process.execPath, [VERIFIER, proof, "--policy", log.policyFile]);
      t.equal(judged.status, 0, proof);
    }
    t.match(JSON.parse(file("verdicts.json")), [
      { bundle: "log-2026.tar", verdicts: { INTEGRITY: { verdict: "PASS" } } },
      { bundle: "log-2027.tar", sample: { entries: { length: 3 } } },
    ]);
    t.ok(text.includes("Setting: leaves 7 years"));
    t.match(text, /log-2027\.tar INTEGRITY PASS/);
    t.match(text, /3 of 7 entries that the filter type=!audit\.heartbeat/);
    t.match(file("questions.csv"), /^"refused","[^"]+",1,1,0,0\r$/m);
    await t.rejects(
      writeEvidence(log.options, {
        ...{
          framework: "hipaa",
          controlsFile: CONTROLS,
          verifierFile: VERIFIER,
          outFolder: join(root, "none"),
        },
        period: { from: "2028-01-01T00:00:00.000Z", to: null },
      }),
      { code: "shard_unknown", message: /goes from 2026-03-01T00:00:01.000Z to / },
    );
  },
);

/** Controls of a row of `operations.csv`: its last cell. */
function listed(row: string): string[] {
  const [, controls = ""] = /,"([^"]*)"$/.exec(row) ?? [];
  return controls.split("; ");
}

t.test("a disk that becomes full leaves nothing of a pack", { skip: lacksMount }, async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(1_000));
  const disk = new SmallDisk(t, 65_536);
  const request = {
    framework: "soc2",
    controlsFile: CONTROLS,
    verifierFile: VERIFIER,
    outFolder: join(disk.folder, "pack"),
  };
  await t.rejects(writeEvidence(log.options, request), { code: "ENOSPC" });
  t.same(readdirSync(disk.folder), []);
  disk.resize(16_777_216);
  await writeEvidence(log.options, request);
  t.same(readdirSync(disk.folder), ["pack"]);
});
