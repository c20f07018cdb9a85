import type { Report } from "./verify.ts";
import { VERDICTS } from "./verdicts.ts";

export const HELP = `usage: node sov-verify.mjs EXPORT [--policy FILE] [--require VERDICT,…] [--json]

Checks an exported audit log without the appliance, without a network and without a secret.

  EXPORT            the file that \`appliance audit export\` wrote; - reads standard input
  --policy FILE     the trust policy that was handed to you when the log was made. Compare its
                    SHA-256 with the one on paper. Keys never come from the export itself.
  --require LIST    verdicts that must PASS, with commas between; one that was not checked
                    then ends with code 65
  --json            one JSON object instead of text
  --help            this text

Verdicts: SIGNATURE (the checkpoint is signed by the keys of the policy), INTEGRITY (every entry
is hashed again and gives the signed root). APPEND-ONLY, WITNESSED, COMPLETENESS and DISCLOSURES
are NOT CHECKED by this release.

Exit code: 0 all is well · 1…63 the sum of the FAILed verdicts (SIGNATURE 1, INTEGRITY 2,
APPEND-ONLY 4, WITNESSED 8, COMPLETENESS 16, DISCLOSURES 32) · 64 the input was refused, or the
command line is wrong · 65 nothing failed, but no policy was given or something under --require
was not checked.

What this does not prove
  - that nobody with root on the appliance replaced its programs before an event was emitted
  - that the content of an event is true: only that it is what the log took, unchanged
  - that the log was not rewritten as a whole, and signed again, by somebody who had its key; that
    takes a witness on another host, or a checkpoint that you kept yourself (both of a later release)
  - that nothing was left out before it reached the log
  - anything about the time between two outside timestamps, or while the appliance was off
`;

/** For people. Every character that could move the cursor, change direction or hide is shown as its code. */
export function renderText(report: Report): string {
  const { verdicts, refused, bundle, policySha256, checkpoint, entriesRead, from, to, types } = report;
  const lines = [
    `export       ${bundle.bytes} bytes, SHA-256 ${bundle.sha256}`,
    `policy       ${policySha256 === null ? "none given" : `SHA-256 ${policySha256}`}`,
  ];
  if (checkpoint !== null) {
    lines.push(`log          ${checkpoint.origin}`, `checkpoint   ${checkpoint.size} entries, root ${checkpoint.root}`);
    lines.push(`entries      ${entriesRead} read${from === null ? "" : `, ${from} to ${to}`}`);
  }
  for (const [type, count] of Object.entries(types)) lines.push(`             ${String(count).padStart(8)}  ${type}`);
  lines.push("");
  for (const name of VERDICTS) {
    const { verdict, reason, index } = verdicts[name];
    lines.push(`${name.padEnd(13)}${verdict.padEnd(15)}${index === undefined ? "" : `entry ${index}: `}${reason}`);
  }
  if (refused !== null) lines.push("", `REFUSED      ${refused}`);
  return `${lines.map(escapeText).join("\n")}\n`;
}

/** Controls, bidirectional and invisible characters, and lone surrogates become \`\\u{…}\`. */
export function escapeText(text: string): string {
  return text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
