export type Unsteady = {
  /** From 1. */
  line: number;
  /** The statement, in one line. */
  text: string;
};

const SLEEP =
  /^await ((sleep|pause|delay|setTimeout|\w+\.waitForTimeout)\(.*|new Promise\(\(?\w+\)? => setTimeout\(.*);$/;
/** A socket is a file a moment before its owner listens. */
const SOCKET_FILE = /^[^"'`]*existsSync\([^)]*sock/i;
/** A file is there a moment before its first line, and its last line may be cut: `wholeLines` of house. */
const HALF_WRITTEN = /existsSync\([^;]*?\s\? readFileSync\([^;]*?\.split\("\\n"\)/g;
/** A limit of a file of its own, which is there to end hangs alone: less than the runner's says how fast the machine must be. */
const OWN_LIMIT = /^t\.setTimeout\(([0-9_]+)\);$/;
const RUNNERS_LIMIT_MS = 600_000;
/** How long a test waits for what must come. A window in which something is done ends at another name. */
const PATIENCE =
  /^(?:(?:for \()?(?:const|let) (?:deadline|end|endsAt) = (?:performance|Date)\.now\(\) \+ |[\w.]+\.setDefaultTimeout\()([0-9_]+)\)?;/;
const LEAST_PATIENCE_MS = 60_000;
/** The same as an argument or an option, where it stands in one line. */
const PATIENCE_GIVEN =
  /(?:\bAbortSignal\.timeout\(|\b(?:timeout|timeoutMs|withinMs|limitMs)(?:: | = )|(?:\buntil\w*|\beventually)\(.*, )([0-9_]{4,})\b/;
/** What waits for a request or an event begins before what causes it: in `Promise.all`, or in a variable. */
const WAIT_BEGUN_LATE = /^(?:const .* = )?await [\w.]+\.waitFor(?:Request|Response|Event)\(/;
/** A socket that its other end resets says an error first, which `once` throws: `untilClosed` of house. */
const CLOSE_OF_SOCKET =
  /\bonce\((?:[\w.]*[sS]ocket|client|connection)!?(?:\.resume\(\))?, "close"\)/;
/** What a person does in a browser. What follows from it comes when the page has drawn it. */
const ACT =
  /^await [^]*\.(?:click|goto|reload|press|type|fill|check|uncheck|setChecked|selectOption|setInputFiles)\([^]*\);$/;
/** Looks once, as the page is just now. */
const ONE_LOOK =
  /\.(?:count|isVisible|isHidden|isEnabled|isDisabled|allTextContents|allInnerTexts|title|url)\(\)/;
/** Where there is no such process, the signal goes to the whole group of the test. */
const OWN_GROUP = /\bprocess\.kill\([^;]* \?\? 0\b/;
/** In Python. */
const CLOCK_JUDGED = /^self\.assertLess(?:Equal)?\(time\.(?:monotonic|time)\(\) - /;
const SECONDS_WAITED = /^(?:end|deadline) = time\.monotonic\(\) \+ ([0-9]+)$/;
const ASSERTION = /^t\.(ok|notOk|equal|not|same|match)\(/;
/** `const tookMs = performance.now() - startedAt`, and the same as a property. */
const MEASURED = /\b(\w+)(?: =|:) (?:Math\.\w+\()*\(*(?:performance|Date)\.now\(\) - [a-z]\w*/g;
const SUBTRACTED = /\bnow\(\) - [a-z]/;
/** A lower bound stays: a busy machine only makes something later. */
const UPPER_BOUND = / <=? /;
/** A loop that looks anew each time, and a try that failed within one. */
const LOOK =
  /^(while \(|for \(;;\)|for await |do \{|for \((let|const) [^;]* = [^;]*;|\) \{$|\} catch)/;

/**
 * Limits of files below the runner's, waits that are soon given up or begin after what they wait for, assertions that something took no longer than a
 * time, one look at a page just after an act, sleeps that are no pause between two looks, files of sockets taken for their owners, ends of sockets of
 * which an error is thrown, and lines of files that may be half written. Sources are formatted, so that a block is what is indented: in a loop that
 * looks anew each time a sleep may be the first thing or the last.
 */
export function findUnsteady(source: string): Unsteady[] {
  const lines = source.split("\n");
  const measured = [...source.matchAll(MEASURED)].map(([, name]) => new RegExp(`\\b${name}\\b`));
  const halfWritten = [...source.matchAll(HALF_WRITTEN)].map(({ index, 0: text }) => ({
    line: source.slice(0, index).split("\n").length,
    text: text.replaceAll(/\s+/g, " "),
  }));
  const others = lines.flatMap((raw, at) => {
    const line = raw.trim();
    if (SLEEP.test(line)) return isPause(lines, at) ? [] : [{ line: at + 1, text: line }];
    if (
      isLess(OWN_LIMIT.exec(line)?.[1], RUNNERS_LIMIT_MS) ||
      isLess(PATIENCE.exec(line)?.[1], LEAST_PATIENCE_MS) ||
      isLess(PATIENCE_GIVEN.exec(line)?.[1], LEAST_PATIENCE_MS) ||
      isLess(SECONDS_WAITED.exec(line)?.[1], LEAST_PATIENCE_MS / 1_000) ||
      [SOCKET_FILE, WAIT_BEGUN_LATE, CLOSE_OF_SOCKET, CLOCK_JUDGED, OWN_GROUP].some((one) =>
        one.test(line),
      )
    )
      return [{ line: at + 1, text: line }];
    if (!ASSERTION.test(line)) return [];
    const text = statementAt(lines, at);
    if (ONE_LOOK.test(text) && ACT.test(statementBefore(lines, at)))
      return [{ line: at + 1, text }];
    // What it prints is no judgement.
    const judged = text.replaceAll(/`[^`]*`|"[^"]*"/g, "");
    const isOfTime = SUBTRACTED.test(judged) || measured.some((name) => name.test(judged));
    return isOfTime && UPPER_BOUND.test(judged) ? [{ line: at + 1, text }] : [];
  });
  return [...others, ...halfWritten];
}

/** @param literal a number as it stands in a source */
function isLess(literal: string | undefined, ms: number): boolean {
  return literal !== undefined && Number(literal.replaceAll("_", "")) < ms;
}

const indentOf = (line: string): number => line.length - line.trimStart().length;

function statementAt(lines: readonly string[], at: number): string {
  const first = lines[at] ?? "";
  if (first.endsWith(";")) return first.trim();
  const end = lines.findIndex(
    (line, index) => index > at && indentOf(line) === indentOf(first) && line.endsWith(";"),
  );
  return lines
    .slice(at, end + 1)
    .map((line) => line.trim())
    .join(" ");
}

/** The statement that ends in the line before, in one line. */
function statementBefore(lines: readonly string[], at: number): string {
  const indent = indentOf(lines[at] ?? "");
  const from = lines.findLastIndex(
    (line, index) => index < at && indentOf(line) === indent && !/^\s*[)}\]]/.test(line),
  );
  return lines
    .slice(from, at)
    .map((line) => line.trim())
    .join(" ");
}

function isPause(lines: readonly string[], at: number): boolean {
  const indent = indentOf(lines[at] ?? "");
  const before = lines[at - 1] ?? "";
  // The only statement of a loop whose head takes several lines.
  if (before.trim() === ")" && indentOf(before) === indent - 2) return true;
  const opener = lines.slice(0, at).findLast((line) => line !== "" && indentOf(line) < indent);
  const isAtTheEdge = before === opener || indentOf(lines[at + 1] ?? "") < indent;
  return isAtTheEdge && opener !== undefined && LOOK.test(opener.trim());
}
