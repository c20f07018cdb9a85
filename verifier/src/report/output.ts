import type { ProofReport } from "../event-proof.ts";
import { binariesText } from "../completeness/measured.ts";
import type { Stretch } from "../completeness/timeline.ts";
import { type Verdicts, VERDICTS } from "../verdicts.ts";
import type { CallsJudged } from "../calls/evaluate-calls.ts";
import type { Report } from "../verify.ts";

export const NOT_PROVEN = `What this does not prove
  - that nobody with root on the appliance replaced its programs before an event was emitted
  - that the content of an event is true: only that it is what the log took, unchanged
  - anything about the time between two timestamps of witnesses, beyond their order
  - anything about what happened while the log was DARK
  - at a site whose policy says "quorum none": that the log was not rewritten as a whole, and signed
    again, by somebody who had its keys. There only a checkpoint that you kept (--known) tells
`;

export const HELP = `usage: node sov-verify.mjs EXPORT [options]

Checks an exported audit log, or the proof of one event (FILE.tlog-proof), without the appliance,
without a network and without a secret.

  EXPORT            the file that \`appliance audit export\` wrote; - reads standard input
  --policy FILE     the trust policy that was handed to you when the log was made. Compare its
                    SHA-256 with the one on paper. Keys never come from the export itself
  --known FILE      checkpoints that you had without the appliance: signed notes, the text of printed
                    ones, or an earlier --json report of this program. May be given several times
  --erasure FILE    proof of an erasure's entry in another shard that ended values of this one:
                    \`appliance audit prove\` there. May be given several times
  --release FILE    the vendor's release.json, had as this program is had: what the appliance measured
                    before it started a part is compared with it. May be given several times, one
                    for each release that ran while the log was written
  --nonce HEX       the 32 bytes that you gave for this export: says that it is no older than that
  --downtime FILE   lines \`FROM TO\` (2026-01-31T18:00Z): times in which the appliance was off by
                    plan. With it a stretch that no line holds FAILs; without, stretches are listed
  --sample N        draws N entries by SHA-256(nonce, root): anybody can draw the same ones again
  --filter LIST     of which entries: type=, phase=, prod=, actor=, object=, from=, to=, with commas;
                    'type=!audit.heartbeat' takes all others
  --calls FILE      the file that \`appliance audit calls\` wrote: each call of a model in it is compared with
                    the entry of its batch. Says PASS, or FAIL with the first call that was changed, added
                    or left out; batches that the journal has no more are told as erased
  --list            shows the entries behind the verdicts: number, time, type, result, who, object, the
                    process that told it, and the values that the export discloses and that open their
                    commitments. Reads the export twice; lists nothing where INTEGRITY does not pass
  --type T --phase P --actor ID --object O --value V --outcome CODE --from D --to D
                    which entries are listed. T, O and V may end with * (job.*). O is an id, or a
                    disclosed path (bucket/key); V is a disclosed value; "--outcome refused" finds all
                    that was refused. D is a day (2026-11-25, UTC; as --to it counts whole), or a time
                    with Z or an offset
  --require LIST    verdicts that must PASS, with commas between; one that was not checked
                    then ends with code 65
  --json            one JSON object instead of text; with --list a line for it, and one for each entry
  --help            this text

Verdicts
  SIGNATURE     every key that the policy lists for this log has signed
  INTEGRITY     every entry was hashed again and gives the signed root; each is of its closed form
  APPEND-ONLY   every checkpoint that you kept is a beginning of this log
  WITNESSED     other hosts countersigned: up to which entry and time, longest stretch without
  COMPLETENESS  no producer's numbers have a GAP, every operation has its outcome, heartbeats agree;
                DARK and STOPPED stretches, SILENT producers, RECOVERED shards; CROSS-CHECK of what
                several tell of one thing, and of what was started with the release
  DISCLOSURES   opened values open the commitments in the entries; erased ones were erased on record

Exit code: 0 all is well · 1…63 the sum of the FAILed verdicts (SIGNATURE 1, INTEGRITY 2,
APPEND-ONLY 4, WITNESSED 8, COMPLETENESS 16, DISCLOSURES or CALLS 32) · 64 the input was refused, or the
command line is wrong · 65 nothing failed, but no policy was given, something under --require
was not checked, calls could not be judged, or nothing in the log can be compared with the nonce
or the release.

Examples
  node sov-verify.mjs export.tar --policy audit.policy --known last-year.checkpoint
  node sov-verify.mjs export.tar --policy audit.policy --require SIGNATURE,INTEGRITY,WITNESSED --json
  node sov-verify.mjs export.tar --policy audit.policy --release release.json
  node sov-verify.mjs export.tar --policy audit.policy --nonce 00…ff --sample 25 --filter type=iam.user.create
  node sov-verify.mjs export.tar --policy audit.policy --calls calls.jsonl
  node sov-verify.mjs export.tar --policy audit.policy --list --outcome refused --from 2026-11-01 --to 2026-11-30

${NOT_PROVEN}`;

const STRETCHES_SHOWN = 20;

/** Renders a report for people. Every character that could move the cursor, change direction or hide is shown as its code. */
export function renderText(report: Report): string {
  const {
    verdicts,
    refused,
    policySha256,
    checkpoint,
    entriesRead,
    from,
    to,
    types,
    findings,
    binaries,
    freshness,
    sample,
    calls,
  } = report;
  const lines = [
    `export       ${report.bundleBytes} bytes`,
    `policy       ${policySha256 === null ? "none given" : `SHA-256 ${policySha256}`}`,
  ];
  for (const sha256 of binaries.releases) lines.push(`release      SHA-256 ${sha256}`);
  if (checkpoint !== null) {
    lines.push(
      `log          ${checkpoint.origin}`,
      `checkpoint   ${checkpoint.size} entries, root ${checkpoint.root}`,
    );
    lines.push(`entries      ${entriesRead} read${from === null ? "" : `, ${from} to ${to}`}`);
  }
  if (report.underOtherSchemas > 0)
    lines.push(
      `             ${report.underOtherSchemas} of them under schemas that this release does not know: their envelope alone was checked`,
    );
  for (const [type, count] of Object.entries(types))
    lines.push(`             ${String(count).padStart(8)}  ${type}`);
  if (findings !== null) {
    for (const stretch of findings.stretches.slice(0, STRETCHES_SHOWN))
      lines.push(stretchText(stretch));
    if (findings.stretches.length > STRETCHES_SHOWN)
      lines.push(`             and ${findings.stretches.length - STRETCHES_SHOWN} stretches more`);
    if (findings.abruptStarts > 0)
      lines.push(`restarts     ${findings.abruptStarts} without a stop in good order`);
  }
  const starts = binariesText(binaries);
  if (starts !== null) lines.push(`binaries     ${starts}`);
  if (freshness !== undefined)
    lines.push(
      freshness === null
        ? "FRESHNESS    FAIL: no export in this log carries your nonce"
        : `FRESHNESS    the export of entry ${freshness.entry} carries your nonce: the log is no older than you gave it`,
    );
  if (calls !== undefined)
    lines.push(
      `calls        ${calls.deployment === null ? "of all deployments" : `of ${calls.deployment}`}, from ${calls.from ?? "the first entry"} until before ${calls.to ?? `entry ${calls.size}`}, as their file says`,
    );
  if (sample !== undefined)
    lines.push(
      `sample       ${sample.entries.length} of ${sample.population} entries (${sample.filter || "all"}): ${sample.entries.join(" ")}`,
    );
  return finish(lines, verdicts, refused, report.calls);
}

export function renderProof({
  verdicts,
  refused,
  policySha256,
  checkpoint,
  index,
  event,
}: ProofReport): string {
  const lines = [
    `policy       ${policySha256 === null ? "none given" : `SHA-256 ${policySha256}`}`,
  ];
  if (checkpoint !== null)
    lines.push(`log          ${checkpoint.origin}`, `entry        ${index} of ${checkpoint.size}`);
  if (event !== null) lines.push(`event        ${event}`);
  return finish(lines, verdicts, refused);
}

function finish(
  lines: string[],
  verdicts: Verdicts,
  refused: string | null,
  calls?: CallsJudged,
): string {
  lines.push("");
  const all = VERDICTS.map((name) => [name as string, verdicts[name]] as const);
  if (calls !== undefined) all.push(["CALLS", calls.judged]);
  for (const [name, { verdict, reason, index }] of all)
    lines.push(
      `${name.padEnd(13)}${verdict.padEnd(15)}${index === undefined ? "" : `entry ${index}: `}${reason}`,
    );
  if (refused !== null) lines.push("", `REFUSED      ${refused}`);
  return `${lines.map(escapeText).join("\n")}\n`;
}

function stretchText({ kind, prod, index, from, to }: Stretch): string {
  return `${kind.padEnd(13)}${from} to ${to}, before entry ${index}${prod === undefined ? "" : ` (${prod})`}`;
}

/** Controls, bidirectional and invisible characters, and lone surrogates become \`\\u{…}\`. */
export function escapeText(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
