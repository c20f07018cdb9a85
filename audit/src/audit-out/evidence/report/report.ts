/** What an auditor reads first: what the pack is about, what it holds, how to check it, and what it does not prove. Words alone; how they look is elsewhere. */
import type { ControlFindings, PackScope } from "../pack-scope.ts";

export type Column = { title: string; width: number; font?: "bold" | "fixed"; align?: "right" };
export type Block =
  | { kind: "heading" | "paragraph" | "item" | "command"; text: string }
  | { kind: "table"; columns: readonly Column[]; hasHead: boolean; rows: readonly (readonly string[])[] };
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
  { title: "Control", width: 108 },
  { title: "Title", width: 210 },
  ...["Entries", "First index", "Last index"].map((title) => ({ title, width: 55, align: "right" }) as const),
];
const TYPES: readonly Column[] = [
  { title: "Control", width: 108 },
  { title: "Types of event", width: 375 },
];

export function reportOf(
  { name, framework, origin, size, root, from, to }: PackScope,
  controls: readonly ControlFindings[],
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
          ["Period", isNone ? "the log has no entry yet" : `${from} to ${to}, by the appliance's clock`],
          ["Entries", isNone ? "0" : `${size}, with the indices 0 to ${size - 1}`],
          ["Root", signedRoot],
        ],
      },
      { kind: "heading", text: "What the log holds for each control" },
      {
        kind: "paragraph",
        text:
          "Counted are the entries whose type bears on the control. An entry that bears on two controls is counted for both. 0 says that the log holds no such entry, and not that " +
          "nothing happened.",
      },
      { kind: "table", hasHead: true, columns: CONTROLS, rows: controls.map(rowOf) },
      { kind: "heading", text: "Which types of event bear on each control" },
      {
        kind: "paragraph",
        text: "This is data of the appliance's release (policies/controls.json), and its vendor's judgement.",
      },
      { kind: "table", hasHead: true, columns: TYPES, rows: framework.controls.map(({ id, types }) => [id, types.join(", ")]) },
      { kind: "heading", text: "What is in this folder" },
      { kind: "table", hasHead: false, columns: FILES, rows: files() },
      { kind: "heading", text: "How to check it" },
      ...checks(),
      { kind: "heading", text: "What this pack does not prove" },
      ...limits().map((text) => ({ kind: "item", text }) as const),
    ],
  };
}

function rowOf({ id, title, count, firstIndex, lastIndex }: ControlFindings): string[] {
  return [id, title, String(count), String(firstIndex ?? "–"), String(lastIndex ?? "–")];
}

function files(): string[][] {
  return [
    ["report.pdf", "This report."],
    ["controls.csv", "The table above."],
    [
      "events.csv",
      "A line for each entry that bears on a control: index, time, type, phase, actor, object, outcome, leaf hash, controls. People stand in it by pseudonyms alone.",
    ],
    ["assessment-results.json", "The table above as OSCAL assessment results, for programs."],
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
