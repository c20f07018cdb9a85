/** Environment markers of PEP 508, evaluated for the Python of a job image: CPython on 64-bit Linux. */
import { satisfies, valid } from "@renovatebot/pep440";

export type MarkerEnvironment = { pythonVersion: string };

const TOKEN =
  /\s*(?:(\()|(\))|(===|==|~=|!=|<=|>=|<|>)|("[^"]*"|'[^']*')|(not\s+in\b|in\b|and\b|or\b)|([a-z_.]+))/y;
/** Longest marker, in characters, and so its deepest nesting. */
const MAX_LENGTH = 1_000;

type Token = { kind: "open" | "close" | "operator" | "text" | "word" | "name"; value: string };

/** Tells whether a marker holds; null when it is not a marker. */
export function evaluateMarker(
  marker: string,
  { pythonVersion }: MarkerEnvironment,
): boolean | null {
  const tokens = marker.length > MAX_LENGTH ? null : tokenize(marker);
  if (tokens === null) return null;
  const values = environmentOf(pythonVersion);
  let at = 0;
  const take = (kind: Token["kind"], value?: string): Token | null => {
    const token = tokens[at];
    if (
      token === undefined ||
      token.kind !== kind ||
      (value !== undefined && token.value !== value)
    )
      return null;
    at += 1;
    return token;
  };
  const operand = (): { text: string; isVersion: boolean } | null => {
    const text = take("text");
    if (text !== null) return { text: text.value, isVersion: false };
    const name = take("name");
    if (name === null) return null;
    const value = values[name.value];
    return value === undefined
      ? null
      : { text: value, isVersion: name.value.endsWith("version") && valid(value) !== null };
  };
  const comparison = (): boolean | null => {
    if (take("open") !== null) {
      const inner = either();
      return take("close") === null ? null : inner;
    }
    const left = operand();
    const operator = take("operator") ?? take("word", "in") ?? take("word", "not in");
    const right = operand();
    return left === null || operator === null || right === null
      ? null
      : compare(left, operator.value, right);
  };
  const chain = (word: "and" | "or", next: () => boolean | null): boolean | null => {
    let result = next();
    while (result !== null && take("word", word) !== null) {
      const other = next();
      result = other === null ? null : word === "and" ? result && other : result || other;
    }
    return result;
  };
  const both = (): boolean | null => chain("and", comparison);
  const either = (): boolean | null => chain("or", both);
  const result = either();
  return at === tokens.length ? result : null;
}

type Operand = { text: string; isVersion: boolean };

function compare(left: Operand, operator: string, right: Operand): boolean | null {
  if (operator === "in") return right.text.includes(left.text);
  if (operator === "not in") return !right.text.includes(left.text);
  if (left.isVersion && valid(right.text.replace(/\.\*$/, "")) !== null)
    return satisfies(left.text, `${operator}${right.text}`, { prereleases: true });
  if (right.isVersion && valid(left.text) !== null)
    return satisfies(right.text, `${MIRRORED[operator] ?? operator}${left.text}`, {
      prereleases: true,
    });
  switch (operator) {
    case "==":
    case "===":
      return left.text === right.text;
    case "!=":
      return left.text !== right.text;
    case "<":
      return left.text < right.text;
    case "<=":
      return left.text <= right.text;
    case ">":
      return left.text > right.text;
    case ">=":
      return left.text >= right.text;
    default:
      return null;
  }
}

const MIRRORED: Record<string, string> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

function environmentOf(pythonVersion: string): Record<string, string> {
  return {
    os_name: "posix",
    sys_platform: "linux",
    platform_system: "Linux",
    platform_machine: "x86_64",
    platform_python_implementation: "CPython",
    implementation_name: "cpython",
    implementation_version: pythonVersion,
    python_full_version: pythonVersion,
    python_version: pythonVersion.split(".").slice(0, 2).join("."),
    platform_release: "",
    platform_version: "",
    extra: "",
  };
}

function tokenize(marker: string): Token[] | null {
  const tokens: Token[] = [];
  const kinds = ["open", "close", "operator", "text", "word", "name"] as const;
  TOKEN.lastIndex = 0;
  const end = marker.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const groups = TOKEN.exec(marker)?.slice(1);
    const index = groups?.findIndex((group) => group !== undefined) ?? -1;
    const value = groups?.[index];
    const kind = kinds[index];
    if (value === undefined || kind === undefined) return null;
    tokens.push({
      kind,
      value:
        kind === "text"
          ? value.slice(1, -1)
          : kind === "word"
            ? value.replaceAll(/\s+/g, " ")
            : value,
    });
  }
  return tokens;
}
