/** Renders docs/proofs.md from the catalogue, the records of last runs, and the tests that show something by themselves. */
import { PROOFS, type ProofEntry } from "./catalogue.ts";
import type { ProofRecord } from "./proof-record.ts";

/** A line of the requirements or of an issue that a test shows. */
export type ShownByTest = { shows: string; test: string; name: string };

/** A fault that people met in use of the commit `met`; `seenFailing`: its test was run on code without the repair, and failed. */
export type FaultFound = {
  fault: string;
  test: string;
  name: string;
  met: string;
  seenFailing: boolean;
  passed: string;
};

const HEAD = `# Proofs

\`npm run prove -- document\` writes this page from the records in [proofs/](proofs/), \`proofs/catalogue.ts\` and the lists beside it. How to read the
figures: [reading-proofs.md](reading-proofs.md). They come from one machine (2 cores, 24 GB, no GPU): ratios travel, absolute numbers do not.
A commit with \`+\` had uncommitted changes.
`;

export function renderProofs(
  records: ReadonlyMap<string, ProofRecord>,
  shown: readonly ShownByTest[],
  faults: readonly FaultFound[],
): string {
  const proofs = Object.entries(PROOFS)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, entry]) => proofRow(name, entry, records.get(name)));
  const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
    [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");
  return [
    HEAD,
    "## By `npm run prove -- NAME`\n",
    table(["proof", "what it shows", "figures", "goal", "", "date", "commit"], proofs),
    "\n## By `npm test`\n",
    table(
      ["what it shows", "test"],
      shown.map(({ shows, test, name }) => [shows, `\`${test}\`: ${name}`]),
    ),
    "\n## Faults found by use\n",
    "Each was met in use of the first commit named, and its test passes since the second. Where it says yes, the test was run on code without the repair, and failed.\n",
    table(
      ["fault", "test", "met at", "seen failing", "passes since"],
      faults.map(({ fault, test, name, met, seenFailing, passed }) => [
        ...[fault, `\`${test}\`: ${name}`, met, seenFailing ? "yes" : "", passed],
      ]),
    ),
    "",
  ].join("\n");
}

function proofRow(
  name: string,
  { shows, goal, figures }: ProofEntry,
  record: ProofRecord | undefined,
): string[] {
  if (record === undefined) return [name, shows, "not run yet", goal ?? "", "", "", ""];
  const told = figures
    .map(([path, words]) => `${figureAt(record.figures, path)} ${words}`)
    .join("; ");
  const command = [name, ...record.args].join(" ");
  return [
    `[${command}](proofs/${name}.json)`,
    shows,
    told,
    goal ?? "",
    record.ok ? "ok" : "**missed**",
    record.date,
    record.commit,
  ];
}

/** @returns a number with separators of thousands, how many members a list or an object has, else the word that is there */
export function figureAt(figures: unknown, path: string): string {
  let value = figures;
  for (const step of path.split("."))
    value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
  if (typeof value === "object" && value !== null) return String(Object.keys(value).length);
  if (typeof value === "number") return value.toLocaleString("en-GB");
  return typeof value === "string" || typeof value === "boolean" ? String(value) : "?";
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
