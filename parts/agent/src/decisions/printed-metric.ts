/**
 * `RT_METRIC` lines of a program that prints them itself, without a runner that collects them: as resontech_runner/log_lines.py reads them for the
 * others. Pure.
 */

const WORD = "RT_METRIC";
const MAX_BYTES = 4096;
const MAX_TEXT_CHARS = 1024;
/** Python's `json` prints these where JSON has none. */
const CONSTANT = /(?<=[[:,]\s*)(-?Infinity|NaN)(?=\s*[,\]}])/g;

/** `json`: one JSON object of at most 4 KiB. `problem`: why it is not what the line said; null where it is. */
export type PrintedMetric = { json: string; problem: string | null };

/** Reads a metric that a member printed; null for a line that is none. */
export function printedMetric(line: string): PrintedMetric | null {
  if (!line.startsWith(WORD)) return null;
  const said = line.slice(WORD.length).trim();
  if (Buffer.byteLength(said) > MAX_BYTES)
    return asText(said, `it is longer than ${MAX_BYTES} bytes`);
  const constant = CONSTANT.exec(said)?.[1];
  CONSTANT.lastIndex = 0;
  const json = constant === undefined ? said : said.replaceAll(CONSTANT, '"$1"');
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return asText(said, "it is no JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return asText(said, "it is no JSON object");
  if (constant === undefined) return { json, problem: null };
  const problem = `JSON has no ${constant}`;
  return Buffer.byteLength(json) <= MAX_BYTES ? { json, problem } : asText(said, problem);
}

function asText(said: string, problem: string): PrintedMetric {
  for (let text = said.slice(0, MAX_TEXT_CHARS); ; text = text.slice(0, text.length / 2)) {
    const json = JSON.stringify({ text, problem });
    if (Buffer.byteLength(json) <= MAX_BYTES) return { json, problem };
  }
}
