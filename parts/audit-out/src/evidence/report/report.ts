/** What an auditor reads first: what the pack is about, what it holds, how to check it, and what it does not prove. Words alone; how they look is elsewhere. */
import type { OperationCounts } from "../count-operations.ts";
import {
  type ControlFindings,
  type PackScope,
  type QuestionFindings,
  sourcesText,
} from "../pack-scope.ts";
import type { PeriodFacts } from "../facts/period-facts.ts";
import type { RefusalKind } from "../refusals.ts";
import { factsBlocks } from "./facts-blocks.ts";
import type { Block, Column } from "./report-block.ts";

export type Report = {
  title: string;
  subtitle: string;
  /** Stands on every page. */
  footer: string;
  /** Of the newest entry; empty for a log without one. */
  at: string;
  blocks: readonly Block[];
};

const FACTS: readonly Column[] = [
  { title: "", width: 80, font: "bold" },
  { title: "", width: 403 },
];
const FILES: readonly Column[] = [
  { title: "", width: 140, font: "fixed" },
  { title: "", width: 343 },
];
const CONTROLS: readonly Column[] = [
  { title: "Control", width: 104 },
  { title: "Title", width: 186 },
  ...numbers({ Operations: 60, Refused: 48, Failed: 45, Open: 40 }),
];
const QUESTIONS: readonly Column[] = [
  { title: "Question", width: 90 },
  { title: "As an auditor asks it", width: 188 },
  ...numbers({ Operations: 65, Refused: 50, Failed: 45, Open: 45 }),
];
const SOURCES: readonly Column[] = [
  { title: "Control", width: 108 },
  { title: "Operations by the process that told them", width: 375 },
];
const REFUSED: readonly Column[] = [
  { title: "Type", width: 150 },
  { title: "Code", width: 213 },
  ...numbers({ Operations: 60, First: 60 }),
];
const LIMITS: readonly Column[] = [
  { title: "Control", width: 108 },
  { title: "What the log can't show for it", width: 375 },
];
const TYPES: readonly Column[] = [
  { title: "Control", width: 108 },
  { title: "Types of event", width: 375 },
];

function numbers(widths: Readonly<Record<string, number>>): Column[] {
  return Object.entries(widths).map(([title, width]) => ({ title, width, align: "right" }));
}

/** Kinds of refusals that the report lists; operations.csv has them all. */
const REFUSALS_SHOWN = 60;

export function reportOf(scope: PackScope, counts: OperationCounts, facts: PeriodFacts): Report {
  const { name, framework, shards, from, to } = scope;
  const { controls, questions, refusals } = counts;
  return {
    title: "Evidence from the audit log",
    subtitle: framework.title,
    footer: `root ${shards.map(({ root }) => signedRoot(root)).join(" ")}`,
    at: to,
    blocks: [
      {
        kind: "table",
        hasHead: false,
        columns: FACTS,
        rows: [
          ["Framework", name],
          ["Period", from === "" ? noEntry(scope) : `${from} to ${to}, by the appliance's clock`],
          ...(scope.period.from === null && scope.period.to === null
            ? []
            : [["Asked for", askedPeriod(scope)]]),
          ["Operations", String(counts.all.count)],
          ...shards.flatMap(({ origin, size, root }) => [
            ["Log", origin],
            ["Entries", size === 0 ? "0" : `${size}, with the indices 0 to ${size - 1}`],
            ["Root", signedRoot(root)],
          ]),
        ],
      },
      { kind: "heading", text: "What the log holds for each control" },
      {
        kind: "paragraph",
        text:
          "Counted are operations whose type bears on the control: a request and its outcome are one, and so is a fact. They belong to the period in which they were asked for. An operation " +
          "that bears on two controls is counted for both. 0 says that the log holds no such operation, and not that nothing happened. Refused, Failed and Open are among them: what was refused " +
          "or failed was not done, and of what is open no outcome stands in these shards.",
      },
      { kind: "table", hasHead: true, columns: CONTROLS, rows: controls.map(rowOf) },
      { kind: "heading", text: "Which questions these operations answer" },
      {
        kind: "paragraph",
        text:
          "Of the operations that bear on this framework, by the catalogue of questions that page and shell use, too. The answer to a question over all types: the dashboard, or " +
          "resontech audit ask. What a person did, and who touched a job, is asked of one person or job.",
      },
      { kind: "table", hasHead: true, columns: QUESTIONS, rows: questions.map(questionRow) },
      { kind: "heading", text: "What was refused" },
      ...refusedBlocks(refusals),
      { kind: "heading", text: "Where the operations come from" },
      {
        kind: "paragraph",
        text: "The process of the appliance that told each operation, as its socket names it. operations.csv has it for each, with the address that was asked from as a commitment.",
      },
      {
        kind: "table",
        hasHead: true,
        columns: SOURCES,
        rows: controls.map((one) => [one.id, sourcesText(one) || "–"]),
      },
      ...factsBlocks(scope, facts),
      { kind: "heading", text: "What the log can't show for each control" },
      {
        kind: "table",
        hasHead: true,
        columns: LIMITS,
        rows: controls.map((one) => [one.id, one.limits]),
      },
      { kind: "heading", text: "Which types of event bear on each control" },
      {
        kind: "paragraph",
        text: "This is data of the appliance's release (policies/controls.json), and its vendor's judgement.",
      },
      {
        kind: "table",
        hasHead: true,
        columns: TYPES,
        rows: framework.controls.map(({ id, types }) => [id, types.join(", ")]),
      },
      { kind: "heading", text: "What is in this folder" },
      { kind: "table", hasHead: false, columns: FILES, rows: files(scope) },
      { kind: "heading", text: "How to check it" },
      ...checks(shards),
      { kind: "heading", text: "What this pack does not prove" },
      ...limits(scope).map((text) => ({ kind: "item", text }) as const),
    ],
  };
}

/** Writes a root as the checkpoint and the verifier write it. */
function signedRoot(root: string): string {
  return Buffer.from(root, "hex").toString("base64");
}

function noEntry({ shards }: PackScope): string {
  return shards.every(({ size }) => size === 0)
    ? "the log has no entry yet"
    : "the log has no entry of that time";
}

function askedPeriod({ period: { from, to } }: PackScope): string {
  return `from ${from ?? "the first entry"} until before ${to ?? "the end"}`;
}

function rowOf({ id, title, count, refused, failed, open }: ControlFindings): string[] {
  return [id, title, ...[count, refused, failed, open].map(String)];
}

function questionRow({ question, title, count, refused, failed, open }: QuestionFindings) {
  return [question, title, ...[count, refused, failed, open].map(String)];
}

function refusedBlocks(refusals: readonly RefusalKind[]): Block[] {
  if (refusals.length === 0)
    return [
      {
        kind: "paragraph",
        text: "No operation that bears on a control of this framework was refused.",
      },
    ];
  const rows = refusals
    .slice(0, REFUSALS_SHOWN)
    .map(({ type, code, count, first }) => [type, code, String(count), first]);
  const more = refusals.length - rows.length;
  return [
    {
      kind: "paragraph",
      text: "By type and code, the most frequent first; an operation that bears on two controls is counted once. operations.csv has each with its actor, or with who he claimed to be without proof.",
    },
    { kind: "table", hasHead: true, columns: REFUSED, rows },
    ...(more > 0
      ? [{ kind: "paragraph", text: `And ${more} kinds more, in operations.csv.` } as const]
      : []),
  ];
}

function files({ shards, sample }: PackScope): string[][] {
  return [
    ["report.pdf", "This report."],
    [
      "controls.csv",
      "What the log holds for each control, where it comes from, and what it can't show.",
    ],
    ["questions.csv", "How many of the operations answer which question."],
    [
      "operations.csv",
      "A line for each operation that bears on a control: its entries, when it was asked for and ended, type, result (done, refused, failed, open, recorded), code, who, for whom, who asked and agreed, object, source, leaf hashes, questions, controls. People stand in it by pseudonyms alone.",
    ],
    ["exceptions.csv", "A line for each operation that went another way than the rule."],
    ["roles.csv", "Who held which role when the period began and ended, and the entries between."],
    [
      "verdicts.json",
      "What the verifier of this release says of each export, as its --json has it.",
    ],
    ...(sample === null
      ? []
      : [["sample.csv", "The drawn sample; sample/ has the proof of each entry of it."]]),
    ["assessment-results.json", "The same as OSCAL assessment results, for programs."],
    ...shards.map(({ file, origin }) => [
      file,
      `The export of ${origin}: every entry of this shard, and what proves them.`,
    ]),
    ["SHA256SUMS", "The SHA-256 of each of these files."],
  ];
}

function checks(shards: PackScope["shards"]): Block[] {
  return [
    {
      kind: "paragraph",
      text: "1. That the files are those that were written together. This says nothing about who wrote them.",
    },
    { kind: "command", text: "sha256sum --check SHA256SUMS" },
    {
      kind: "paragraph",
      text:
        "2. That each export is the log, whole and unchanged. Have the verifier from the vendor's release, and the trust policy as it was handed to you: neither from the appliance, nor from " +
        "whoever gives you this folder. Name checkpoints that you kept with --known.",
    },
    ...shards.map(
      ({ file }) =>
        ({ kind: "command", text: `node sov-verify.mjs ${file} --policy audit.policy` }) as const,
    ),
    {
      kind: "paragraph",
      text: "3. That the verifier names the logs, the numbers of entries and the roots that stand at the top of this report.",
    },
    {
      kind: "paragraph",
      text:
        "4. That rows of operations.csv are entries of the log: the leaf hash of a row is the one at its index in the tiles tile/0/… of its shard's export, 256 hashes of 32 bytes each. And that " +
        "entries of the log are rows: node sov-verify.mjs EXPORT --policy audit.policy --list shows them, and --list --json hands them to a program of yours, which can count them.",
    },
  ];
}

function limits({ shards }: PackScope): string[] {
  return [
    "That a control is met. This pack counts; whether what it counts suffices is for the auditor to say.",
    "What these tables say. This report, the CSV files and the OSCAL file are the appliance's own words and carry no signature: the exports are what is proven, and the tables are to be compared with them.",
    `Anything about other shards. A log goes on in a new shard each year, and after a restore; this pack is of ${shards.map(({ slug }) => slug).join(", ")}.`,
    "That nobody with root on the appliance replaced its programs before an event was emitted, or that the content of an event is true.",
    'At a site whose trust policy says "quorum none": that the log was not rewritten as a whole and signed again by somebody who had its keys. There only a checkpoint that you kept tells.',
    "Anything about the time between two timestamps of witnesses beyond the order of entries, or about what happened while the log was not written.",
    "Who a person is: pseudonyms alone stand in it.",
  ];
}
