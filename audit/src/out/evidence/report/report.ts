/** What an auditor reads first: what the pack is about, what it holds, how to check it, and what it does not prove. Words alone; how they look is elsewhere. */
import { type ControlFindings, type PackScope, sourcesText } from "../pack-scope.ts";
import type { RefusalKind } from "../refusals.ts";

export type Column = { title: string; width: number; font?: "bold" | "fixed"; align?: "right" };
export type Block =
  | { kind: "heading" | "paragraph" | "item" | "command"; text: string }
  | {
      kind: "table";
      columns: readonly Column[];
      hasHead: boolean;
      rows: readonly (readonly string[])[];
    };
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
  { title: "Title", width: 144 },
  ...["Entries", "Refused", "Failed", "First", "Last"].map(
    (title) => ({ title, width: 47, align: "right" }) as const,
  ),
];
const SOURCES: readonly Column[] = [
  { title: "Control", width: 108 },
  { title: "Entries by the process that told them", width: 375 },
];
const REFUSED: readonly Column[] = [
  { title: "Type", width: 150 },
  { title: "Code", width: 213 },
  ...["Entries", "First index"].map((title) => ({ title, width: 60, align: "right" }) as const),
];
const LIMITS: readonly Column[] = [
  { title: "Control", width: 108 },
  { title: "What the log can't show for it", width: 375 },
];
const TYPES: readonly Column[] = [
  { title: "Control", width: 108 },
  { title: "Types of event", width: 375 },
];

/** Kinds of refusals that the report lists; events.csv has them all. */
const REFUSALS_SHOWN = 60;

export function reportOf(
  { name, framework, origin, size, root, from, to }: PackScope,
  controls: readonly ControlFindings[],
  refusals: readonly RefusalKind[],
): Report {
  const isNone = size === 0;
  // As the checkpoint and the verifier write it.
  const signedRoot = Buffer.from(root, "hex").toString("base64");
  return {
    title: "Evidence from the audit log",
    subtitle: framework.title,
    footer: `root ${signedRoot}`,
    at: to,
    blocks: [
      {
        kind: "table",
        hasHead: false,
        columns: FACTS,
        rows: [
          ["Framework", name],
          ["Log", origin],
          [
            "Period",
            isNone ? "the log has no entry yet" : `${from} to ${to}, by the appliance's clock`,
          ],
          ["Entries", isNone ? "0" : `${size}, with the indices 0 to ${size - 1}`],
          ["Root", signedRoot],
        ],
      },
      { kind: "heading", text: "What the log holds for each control" },
      {
        kind: "paragraph",
        text:
          "Counted are the entries whose type bears on the control. An entry that bears on two controls is counted for both. 0 says that the log holds no such entry, and not that " +
          "nothing happened. Refused and Failed are among the entries: what they tell of was asked for and was not done, so they are no accesses and no changes. First and Last are indices of entries.",
      },
      { kind: "table", hasHead: true, columns: CONTROLS, rows: controls.map(rowOf) },
      { kind: "heading", text: "What was refused" },
      ...refusedBlocks(refusals),
      { kind: "heading", text: "Where the entries come from" },
      {
        kind: "paragraph",
        text: "The process of the appliance that told each entry, as its socket names it. events.csv has it for each entry, with the address that was asked from as a commitment.",
      },
      {
        kind: "table",
        hasHead: true,
        columns: SOURCES,
        rows: controls.map((one) => [one.id, sourcesText(one) || "–"]),
      },
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
      { kind: "table", hasHead: false, columns: FILES, rows: files() },
      { kind: "heading", text: "How to check it" },
      ...checks(),
      { kind: "heading", text: "What this pack does not prove" },
      ...limits().map((text) => ({ kind: "item", text }) as const),
    ],
  };
}

function rowOf({
  id,
  title,
  count,
  refused,
  failed,
  firstIndex,
  lastIndex,
}: ControlFindings): string[] {
  return [
    id,
    title,
    String(count),
    String(refused),
    String(failed),
    String(firstIndex ?? "–"),
    String(lastIndex ?? "–"),
  ];
}

function refusedBlocks(refusals: readonly RefusalKind[]): Block[] {
  if (refusals.length === 0)
    return [
      {
        kind: "paragraph",
        text: "No entry that bears on a control of this framework tells of a refusal.",
      },
    ];
  const rows = refusals
    .slice(0, REFUSALS_SHOWN)
    .map(({ type, code, count, firstIndex }) => [type, code, String(count), String(firstIndex)]);
  const more = refusals.length - rows.length;
  return [
    {
      kind: "paragraph",
      text: "By type and code, the most frequent first; an entry that bears on two controls is counted once. events.csv has each with its actor, or with who he claimed to be without proof.",
    },
    { kind: "table", hasHead: true, columns: REFUSED, rows },
    ...(more > 0
      ? [{ kind: "paragraph", text: `And ${more} kinds more, in events.csv.` } as const]
      : []),
  ];
}

function files(): string[][] {
  return [
    ["report.pdf", "This report."],
    [
      "controls.csv",
      "What the log holds for each control, where it comes from, and what it can't show.",
    ],
    [
      "events.csv",
      "A line for each entry that bears on a control: index, time, type, phase, result (asked, done, refused, failed, recorded), code, status, actor, whom for, who was claimed, source, object, leaf hash, controls. People stand in it by pseudonyms alone.",
    ],
    ["assessment-results.json", "The same as OSCAL assessment results, for programs."],
    ["log.tar", "The export of the log: every entry of this shard, and what proves them."],
    ["SHA256SUMS", "The SHA-256 of each of these files."],
  ];
}

function checks(): Block[] {
  return [
    {
      kind: "paragraph",
      text: "1. That the files are those that were written together. This says nothing about who wrote them.",
    },
    { kind: "command", text: "sha256sum --check SHA256SUMS" },
    {
      kind: "paragraph",
      text:
        "2. That log.tar is the log, whole and unchanged. Have the verifier from the vendor's release, and the trust policy as it was handed to you: neither from the appliance, nor from " +
        "whoever gives you this folder. Name checkpoints that you kept with --known.",
    },
    { kind: "command", text: "node sov-verify.mjs log.tar --policy audit.policy" },
    {
      kind: "paragraph",
      text:
        "3. That the verifier names the log, the number of entries and the root that stand at the top of this report, and that its counts by type add up to the numbers of entries by " +
        "control.",
    },
    {
      kind: "paragraph",
      text:
        "4. That rows of events.csv are entries of the log: the leaf hash of a row is the one at its index in the tiles tile/0/… of log.tar, 256 hashes of 32 bytes each. And that entries " +
        "of the log are rows: ask for an export with 32 bytes of yours (appliance audit export --nonce), from which the verifier draws entries with --sample and --filter.",
    },
  ];
}

function limits(): string[] {
  return [
    "That a control is met. This pack counts; whether what it counts suffices is for the auditor to say.",
    "What these tables say. This report, the CSV files and the OSCAL file are the appliance's own words and carry no signature: log.tar is what is proven, and the tables are to be compared with it.",
    "Anything about other shards. A log goes on in a new shard each year, and after a restore; this pack is of one alone.",
    "That nobody with root on the appliance replaced its programs before an event was emitted, or that the content of an event is true.",
    'At a site whose trust policy says "quorum none": that the log was not rewritten as a whole and signed again by somebody who had its keys. There only a checkpoint that you kept tells.',
    "Anything about the time between two timestamps of witnesses beyond the order of entries, or about what happened while the log was not written.",
    "Who a person is: pseudonyms alone stand in it.",
  ];
}
