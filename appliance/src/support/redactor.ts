/**
 * Takes secrets and personal values out of text that leaves the appliance.
 *
 * What the appliance knows (its own secrets, its people) goes first, in every form in which a log may show it. Then goes what looks like a secret
 * or is said to be one. What remains of a person, an address or a mailbox becomes a number that is the same throughout one bundle.
 */
import { isIP, isIPv6 } from "node:net";
import { isPersonsName, isPlaceName, isSecretName } from "./decisions/field-names.ts";
import { knownForms, wholeWord } from "./decisions/known-forms.ts";

/** @property people names and buckets @property ownAddresses of this host: they name no person */
export type Known = {
  secrets: readonly string[];
  people: readonly string[];
  ownAddresses: readonly string[];
};

const KINDS = ["secret", "person", "address", "mail", "path", "query"] as const;
export type RedactedKind = (typeof KINDS)[number];

/** First parts of our own URLs. Whatever else a path begins with is somebody's bucket or folder. */
const OWN_PATHS = /^\/(?:api|auth|dashboard|assets|healthz|readyz|metrics|node|token|v1|realms)\b/;
/** A word of a route, or an id that stands for something and names nobody. */
const ROUTE_PART = /^(?:[A-Za-z][A-Za-z-]{0,39}|v\d+|[a-z]{1,4}[_-][0-9a-f]{8,}|\d{1,6})$/;
const MAX_ROUTE_PARTS = 6;

/** Whole, or as far as base64 goes where its end is missing. */
const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:(?:(?!-----BEGIN)[\s\S]){0,16384}?-----END [A-Z0-9 ]*PRIVATE KEY-----|[A-Za-z0-9+/=\s\\]*)/g;
/** What a cut left of a key whose first line is gone. */
const BASE64_LINES = /^[A-Za-z0-9+/]{48,}={0,2}$/gm;
const SECRETS: readonly RegExp[] = [
  /\brsk_[a-z]+_[0-9A-Za-z]+/g,
  /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)*/g,
  /\bS[ANUOCX][A-Z2-7]{56}\b/g,
  /\bRT[0-9A-F]{18}\b/g,
  /(?<=:\/\/)[^\s/@"'<>]+(?=@)/g,
];
const SCHEME =
  /\b(?:(bearer|basic|negotiate|dpop)(\s+)[^\s"',;]{8,}|(aws4-hmac-sha256|digest)(\s+)(?=\w+=)[^\n"]+)/gi;
const COOKIE = /\b((?:set-)?cookie["']?\s*[:=]\s*["']?)[^\n"']+/gi;
const NAMED =
  /(?<![\w.-])(["']?)([A-Za-z][\w.-]{1,63})\1(\s*[=:]\s*)("(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s,;&|}\])]+)/g;
/** Long, and of all three kinds of characters: random bytes in base 62 or 64. Digests in hex are not. */
const OPAQUE =
  /(?<![\w+/-])(?=[\w+-]*[a-z])(?=[\w+-]*[A-Z])(?=[\w+-]*\d)[A-Za-z0-9_+-]{32,}={0,2}/g;
const OPAQUE_BASE64 =
  /(?<![\w+/-])(?=[\w+/]*[a-z])(?=[\w+/]*[A-Z])(?=[\w+/]*\d)[A-Za-z0-9+/]{40,}={0,2}/g;
const QUERY = /(?<=[\w/.-])\?[^\s"'<>=?]{1,200}=[^\s"'<>]*/g;
const BUCKET_URL = /\bs3:\/\/[^\s"'<>]+/g;
const REQUEST = /\b(GET|HEAD|PUT|POST|DELETE|PATCH|OPTIONS)(\s+)(\/[^\s"'?]*)/g;
const HOME = /(?<=\/home\/)[^/\s"':]+/g;
const MAIL =
  /(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/gu;
const IPV4 = /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.]*\d\.)/g;
const IPV6 = /(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%\w+)?/g;

/** Nothing that somebody made a part write moves the cursor of who reads the bundle, or hides a value. */
const UNREADABLE = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

export class Redactor {
  readonly #secrets: RegExp | null;
  readonly #people: RegExp | null;
  readonly #own: ReadonlySet<string>;
  readonly #numbers = new Map<string, Map<string, number>>();
  readonly #counts = new Map<RedactedKind, number>(KINDS.map((kind) => [kind, 0]));

  constructor({ secrets, people, ownAddresses }: Known) {
    this.#secrets = anyOf(secrets.flatMap(knownForms), "gu");
    this.#people = anyOf(people.filter((name) => name.length > 1).map(wholeWord), "giu");
    this.#own = new Set(ownAddresses);
  }

  /** How much of each kind was taken out so far. */
  get counts(): Record<RedactedKind, number> {
    return Object.fromEntries(this.#counts) as Record<RedactedKind, number>;
  }

  /** Lines of a log: those that are JSON are read as such, so that no escape hides a value. */
  log(text: string): string {
    // A value of several lines is found before they are told apart.
    return this.#known(this.#blocks(text))
      .split("\n")
      .map((line) => {
        const value = line.startsWith("{") ? parsed(line) : undefined;
        return value === undefined ? this.text(line) : JSON.stringify(this.json(value));
      })
      .join("\n");
  }

  /** Values of fields that say so are secret or a person's whatever they look like. Numbers and truths stay. */
  json(value: unknown, name = ""): unknown {
    if (value === null || value === undefined || typeof value === "boolean") return value;
    if (Array.isArray(value)) return value.map((one) => this.json(one, name));
    if (typeof value === "object")
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [this.#known(key), this.json(one, key)]),
      );
    const text = typeof value === "string" ? value : JSON.stringify(value);
    if (isSecretName(name)) return this.#marked("secret");
    if (isPersonsName(name)) return this.#person(text);
    if (isPlaceName(name)) return this.#marked("path");
    const safe = this.text(name === "path" && OWN_PATHS.test(text) ? this.#route(text) : text);
    return typeof value === "number" && safe === text ? value : safe;
  }

  text(text: string): string {
    let safe = this.#known(this.#blocks(text.replaceAll(UNREADABLE, "\u{FFFD}")));
    const hide = (pattern: RegExp, by: (...found: string[]) => string): void => {
      safe = safe.replaceAll(pattern, by);
    };
    hide(SCHEME, (_, scheme, space, listing, gap) =>
      scheme === undefined
        ? `${listing}${gap}${this.#marked("secret")}`
        : `${scheme}${space}${this.#marked("secret")}`,
    );
    hide(COOKIE, (_, head) => `${head}${this.#marked("secret")}`);
    for (const pattern of SECRETS) hide(pattern, () => this.#marked("secret"));
    hide(BUCKET_URL, () => `s3://${this.#marked("path")}`);
    hide(REQUEST, (_, method, space, path) => `${method}${space}${this.#route(path)}`);
    hide(QUERY, () => `?${this.#marked("query")}`);
    hide(NAMED, (whole, quote, name, between, value) => {
      const head = `${quote}${name}${quote}${between}`;
      if (value.startsWith("⟨")) return whole;
      if (isSecretName(name)) return `${head}${this.#marked("secret")}`;
      if (isPersonsName(name)) return `${head}${this.#person(unquoted(value))}`;
      if (isPlaceName(name)) return `${head}${this.#marked("path")}`;
      return whole;
    });
    hide(OPAQUE, () => this.#marked("secret"));
    hide(OPAQUE_BASE64, () => this.#marked("secret"));
    // Before the people, whose names stand in them.
    hide(MAIL, (mail) => this.#numbered("mail", mail.toLowerCase()));
    if (this.#people !== null) hide(this.#people, (name) => this.#person(name));
    hide(HOME, (name) => (name.startsWith("⟨") ? name : this.#person(name)));
    hide(IPV6, (found) => this.#address(found));
    hide(IPV4, (found) => this.#address(found));
    return safe;
  }

  /** What the appliance knows to be secret; all that is done to a name of a field. */
  #known(text: string): string {
    return this.#secrets === null
      ? text
      : text.replaceAll(this.#secrets, () => this.#marked("secret"));
  }

  #blocks(text: string): string {
    return text
      .replaceAll(PRIVATE_KEY, () => this.#marked("secret"))
      .replaceAll(BASE64_LINES, () => this.#marked("secret"));
  }

  #route(path: string): string {
    const parts = path.split("/").slice(1);
    const first = OWN_PATHS.test(path) ? parts.findIndex((part) => !ROUTE_PART.test(part)) : 0;
    const isWhole = first === -1 || (first === parts.length - 1 && parts.at(-1) === "");
    if (isWhole && parts.length <= MAX_ROUTE_PARTS) return path;
    const kept = parts.slice(0, first === -1 ? MAX_ROUTE_PARTS : first);
    return `/${[...kept, this.#marked("path")].join("/")}`;
  }

  #address(found: string): string {
    const text = found.replace(/[:.]+$/, isIPv6(found) ? "$&" : "");
    if (isIP(text) === 0) return found;
    const plain = text.replace(/%.*$/, "").replace(/^::ffff:(?=\d+\.)/i, "");
    if (this.#own.has(plain)) return found;
    return `${this.#numbered("address", plain.toLowerCase())}${found.slice(text.length)}`;
  }

  #person(name: string): string {
    return this.#numbered("person", name.toLowerCase());
  }

  #numbered(kind: RedactedKind, value: string): string {
    const numbers = this.#numbers.get(kind) ?? new Map<string, number>();
    this.#numbers.set(kind, numbers);
    const number = numbers.get(value) ?? numbers.size + 1;
    numbers.set(value, number);
    this.#count(kind);
    return `⟨${kind} ${number}⟩`;
  }

  #marked(kind: RedactedKind): string {
    this.#count(kind);
    return `⟨${kind}⟩`;
  }

  #count(kind: RedactedKind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }
}

function anyOf(patterns: readonly string[], flags: string): RegExp | null {
  if (patterns.length === 0) return null;
  // The longest first: what is found is then never the beginning of another one.
  const all = [...new Set(patterns)].toSorted((a, b) => b.length - a.length);
  return new RegExp(all.join("|"), flags);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/, "$2");
}
