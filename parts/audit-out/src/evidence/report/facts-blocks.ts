/** What the report tells of the period: verdicts, sample, exceptions, roles, clock, releases, settings. */
import { EXCEPTIONS, type ExceptionKind } from "../facts/exceptions.ts";
import type { PeriodFacts } from "../facts/period-facts.ts";
import type { PackScope } from "../pack-scope.ts";
import type { Block, Column } from "./report-block.ts";

const VERDICTS: readonly Column[] = [
  { title: "Export", width: 90 },
  { title: "Verdict", width: 90 },
  { title: "", width: 84 },
  { title: "Reason", width: 219 },
];
const COUNTED: readonly Column[] = [
  { title: "Kind", width: 80 },
  { title: "What it is", width: 343 },
  { title: "Operations", width: 60, align: "right" },
];
const ROLES: readonly Column[] = [
  { title: "Person", width: 150 },
  { title: "Role", width: 110 },
  { title: "Where", width: 83 },
  { title: "At start", width: 45 },
  { title: "At end", width: 45 },
  { title: "Changes", width: 50, align: "right" },
];
const NAMED: readonly Column[] = [
  { title: "", width: 150, font: "bold" },
  { title: "", width: 333 },
];
/** roles.csv has all. */
const ROLES_SHOWN = 200;

export function factsBlocks(scope: PackScope, facts: PeriodFacts): Block[] {
  return [
    { kind: "heading", text: "What the verifier says of the exports" },
    paragraph(
      "The verifier of the appliance's own release judged each export by the appliance's own policy. It is no independent check: repeat it with the verifier and the policy that you have.",
    ),
    table(
      VERDICTS,
      scope.shards.flatMap(({ file, report }) =>
        Object.entries(report.verdicts).map(([name, { verdict, reason }]) => [
          ...[file, name, verdict, reason],
        ]),
      ),
    ),
    { kind: "heading", text: "Sample" },
    ...sampleBlocks(scope),
    { kind: "heading", text: "Exceptions" },
    paragraph(
      "Operations of the period that went another way than the rule, whichever control they bear on. One may be of several kinds; exceptions.csv has each.",
    ),
    table(
      COUNTED,
      Object.entries(EXCEPTIONS).map(([kind, what]) => [
        ...[kind, what, String(facts.exceptions[kind as ExceptionKind])],
      ]),
    ),
    ...scope.shards.flatMap(({ file, report }) =>
      (report.lapses?.length ?? 0) === 0
        ? []
        : [paragraph(`${file}: ${report.lapses!.length} stretches had too few witnesses.`)],
    ),
    { kind: "heading", text: "Who held which role" },
    paragraph(
      "Folded from the log: from its first shard that is kept, to the end of the period. A role that somebody had before that, and the own project of each researcher, stand in no entry. Somebody who left keeps the role here until it is revoked.",
    ),
    ...(facts.unread.length === 0
      ? []
      : [
          paragraph(
            `These shards can't be read, and roles given in them are not known: ${facts.unread.join(", ")}.`,
          ),
        ]),
    ...roleBlocks(facts),
    { kind: "heading", text: "Clock, releases and settings" },
    table(NAMED, [...clockRows(facts), ...releaseRows(facts), ...settingRows(scope)], false),
  ];
}

function sampleBlocks({ sample }: PackScope): Block[] {
  if (sample === null) return [paragraph("None was asked for.")];
  const { nonce, count, shards } = sample;
  return [
    paragraph(
      `Drawn without replacement by SHA-256(seed, counter), with the seed SHA-256(nonce, root). The nonce is ${nonce}. Where you did not give it yourself, the appliance drew it, and may have chosen it. sample.csv has what was drawn, with the proof of each entry.`,
    ),
    ...shards.flatMap(({ file, filter, population, drawn }): Block[] => [
      paragraph(`${file}: ${drawn} of ${population} entries that the filter ${filter} keeps.`),
      {
        kind: "command",
        text: `node sov-verify.mjs ${file} --policy audit.policy --nonce ${nonce} --sample ${count} --filter '${filter}'`,
      },
    ]),
  ];
}

function roleBlocks({ roles }: PeriodFacts): Block[] {
  const { rows } = roles;
  if (rows.length === 0) return [paragraph("The log tells of none.")];
  const shown = rows.slice(0, ROLES_SHOWN);
  const yes = (holds: boolean): string => (holds ? "yes" : "no");
  return [
    table(
      ROLES,
      shown.map(({ person, role, where, atStart, atEnd, changes }) => [
        ...[person, role, where, yes(atStart), yes(atEnd), String(changes.length)],
      ]),
    ),
    ...(rows.length > shown.length
      ? [paragraph(`And ${rows.length - shown.length} more, in roles.csv.`)]
      : []),
  ];
}

function clockRows({ clock, exceptions }: PeriodFacts): string[][] {
  const { synced, unsynced, untold, greatestOffsetUs, sources } = clock;
  return [
    [
      "Clock: entries",
      `${synced} by a clock that was set, ${unsynced} by one that was not, ${untold} say nothing of it`,
    ],
    ["Clock: set by", sources.size === 0 ? "no entry says" : [...sources].sort().join(", ")],
    [
      "Clock: greatest offset",
      greatestOffsetUs === null ? "no entry says" : `${greatestOffsetUs} µs`,
    ],
    ["Clock: moved or vouched for", String(exceptions.clock)],
  ];
}

function releaseRows({ releases }: PeriodFacts): string[][] {
  const { runs } = releases;
  if (runs.length === 0) return [["Releases", "the log tells of no start in these shards"]];
  return runs.map(({ what, release, since, entry }) => [
    ...[`Release: ${what}`, `${release}, since ${since} (entry ${entry})`],
  ]);
}

function settingRows({ settings }: PackScope): string[][] {
  return settings.map(([name, value]) => [
    ...[`Setting: ${name}`, `${value}, as the appliance is set now: not out of the log`],
  ]);
}

function paragraph(text: string): Block {
  return { kind: "paragraph", text };
}

function table(columns: readonly Column[], rows: string[][], hasHead = true): Block {
  return { kind: "table", columns, rows, hasHead };
}
