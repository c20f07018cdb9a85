/**
 * A checkpoint on paper: what an auditor or officer keeps outside the appliance, and later gives the verifier with `--known`. The code in the
 * picture holds the three lines and the log's Ed25519 signature; an ML-DSA signature is too long for one.
 */
import { createHash } from "node:crypto";
import { encode, renderSVG, renderUnicodeCompact } from "uqr";
import { parseCheckpoint } from "../format/note/checkpoint.ts";
import { KEY_TYPE } from "../format/note/note-key.ts";
import { parsePolicy } from "../format/note/policy.ts";
import { formatNote, isLineOf } from "../format/note/signed-note.ts";

/** Survives a crease or a stain on up to 15 % of it. */
const CODE = { ecc: "M", border: 4 } as const;

export type PrintedCheckpoint = {
  origin: string;
  size: number;
  /** SHA-256 of the policy file, hex: what an auditor compares the policy with that he was given. */
  policySha256: string;
  /** What the code holds: a note that the verifier takes as known. */
  text: string;
};

/**
 * @param note the signed checkpoint
 * @param policy the bytes of the trust policy, which says whose signature is the log's
 * @throws RangeError for a checkpoint that the policy's Ed25519 key of that log did not sign
 */
export function printedCheckpoint(note: string, policy: Buffer): PrintedCheckpoint {
  const checkpoint = parseCheckpoint(note);
  if (checkpoint === null) throw new RangeError("this is no checkpoint");
  const { origin, size, text } = checkpoint;
  const key = parsePolicy(policy).logs.find(
    ({ name, type }) => name === origin && type === KEY_TYPE.ed25519,
  );
  const signatures = checkpoint.signatures.filter(
    (line) => key !== undefined && isLineOf(line, key),
  );
  if (signatures.length !== 1)
    throw new RangeError(`${origin} has no signature of the policy's Ed25519 key`);
  const policySha256 = createHash("sha256").update(policy).digest("hex");
  return { origin, size, policySha256, text: formatNote({ text, signatures }) };
}

/** Renders a checkpoint for a terminal of 80 columns; dark on light whatever its colours are. */
export function asTerminalText({ text, policySha256 }: PrintedCheckpoint): string {
  const code = renderUnicodeCompact(text, { ...CODE, border: 2 });
  return `${text}\nSHA-256 of the policy  ${policySha256}\n\n${code}\n`;
}

/** One page of A4 or Letter that needs nothing but itself. `printedAt` is ISO 8601. */
export function asPage(
  { origin, size, text, policySha256 }: PrintedCheckpoint,
  printedAt: string,
): string {
  const { size: modules } = encode(text, CODE);
  const picture = renderSVG(text, { ...CODE, pixelSize: 4 });
  const rows = [
    ["Log", origin],
    ["Entries", String(size)],
    ["Written", printedAt],
    ["SHA-256 of the policy", policySha256],
  ].map(
    ([name, value]) => `<tr><th scope="row">${escaped(name!)}</th><td>${escaped(value!)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${sha256Base64(STYLE)}'; form-action 'none'; base-uri 'none'">
<title>Checkpoint ${escaped(origin)} ${size}</title><style>${STYLE}</style></head><body>
<h1>Checkpoint of the audit log</h1>
<table>${rows.join("")}</table>
<figure role="img" aria-label="QR code of the checkpoint below, ${modules} by ${modules} modules">${picture}</figure>
<pre>${escaped(text)}</pre>
<p>Keep this sheet where the appliance's administrators can't reach it. Whoever changes or removes any of these ${size} entries later can't hide it from the
verifier that is given the text above: <code>sov-verify EXPORT --policy POLICY --known FILE</code>. It shows that nothing before it changed since; it is no witness.</p>
<p>Printed by ____________________ &nbsp; Kept by ____________________ &nbsp; Date ____________</p>
</body></html>
`;
}

const STYLE =
  "body{font:11pt/1.4 system-ui,sans-serif;max-width:18cm;margin:1.5cm auto;color:#000;background:#fff}" +
  "h1{font-size:16pt}th{text-align:left;padding-right:1em;font-weight:600;white-space:nowrap}td{font-family:monospace;word-break:break-all}" +
  "figure{margin:1em 0;text-align:center}svg{width:9cm;height:9cm}pre{font-size:9pt;white-space:pre-wrap;word-break:break-all;border:1px solid #999;padding:.5em}";

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

function sha256Base64(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("base64");
}
