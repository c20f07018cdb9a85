/** Changes of what a JSON text says; the changed one is canonical again, so that it comes further than the first reader. */
import type { Dice } from "./dice.ts";

const MAX_SAFE = Number.MAX_SAFE_INTEGER;
const HEX = "0".repeat(64);

/** What readers of JSON take for something else. */
const VALUES: readonly (() => unknown)[] = [
  ...[null, true, false, 0, 1, -1, 255, 65_536, MAX_SAFE, -MAX_SAFE, 1.5, 1e21].map(
    (value) => () => value,
  ),
  ...[
    "",
    "a",
    "auditd",
    "__proto__",
    "constructor",
    "\u202e\u200b",
    "\ud83d\ude00",
    HEX,
    "0",
    "-1",
    "NaN",
  ].map((value) => () => value),
  ...[
    "9999-99-99T99:99:99.999Z",
    "2026-02-30T00:00:00.000Z",
    "0000-01-01T00:00:00.000Z",
    "2026-01-01T24:00:00.000Z",
  ].map((value) => () => value),
  () => "x".repeat(70),
  () => "x".repeat(300),
  () => "x".repeat(8_000),
  () => [],
  () => ({}),
  () => [null],
  () => [[], [[]], {}],
  () => Array.from({ length: 400 }, () => 0),
  () => Array.from({ length: 300 }, (_, at) => `p-${at}`),
  () => ({ toString: null }),
  () => ({ toString: 1, valueOf: 1 }),
  () => [{ toString: null, valueOf: null }],
  () => JSON.parse('{"__proto__":{"polluted":true}}') as unknown,
  () => ({ constructor: { prototype: null }, hasOwnProperty: 1, length: 4_294_967_295, map: 1 }),
  () => nested(6),
  () => nested(50),
];
const NAMES = [
  ...[
    "__proto__",
    "constructor",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "length",
    "",
    "0",
    "detail",
    "erased",
  ],
  ...[
    "producers",
    "vector",
    "away",
    "boot",
    "pseq",
    "index",
    "taken",
    "url_sha256",
    "ttl_s",
    "status",
    "nonce",
    "reason",
  ],
  ...[
    "prev_origin",
    "prev_size",
    "prev_root",
    "seen_size",
    "first_pseq",
    "prev_boot",
    "prev_pseq",
    "logged_at",
    "step_ms",
  ],
];

/** One change somewhere in it. @param others whose values may come here */
export function changeJson(value: unknown, dice: Dice, others: readonly unknown[]): unknown {
  const root = { value: structuredClone(value) };
  const places = placesOf(root);
  const { of, name } = dice.chance(0.1) ? places[0]! : dice.pick(places);
  dice.weighted<() => void>([
    [5, () => void (of[name] = dice.pick(VALUES)())],
    [2, () => void delete of[name]],
    [
      3,
      () => {
        const other = dice.pick(placesOf({ value: dice.pick(others) }));
        of[name] = structuredClone(other.of[other.name]);
      },
    ],
    [3, () => insert(of[name], dice)],
    [1, () => void (of[name] = [of[name]])],
    [
      1,
      () =>
        void (of[name] =
          typeof of[name] === "string" ? `${of[name]}${of[name]}` : JSON.stringify(of[name])),
    ],
    [
      1,
      () =>
        void (of[name] =
          typeof of[name] === "number" ? of[name] + 1 - 2 * dice.below(2) : of[name]),
    ],
  ])();
  return root.value;
}

/** RFC 8785 for what the profile holds; numbers that it does not hold stand as JavaScript writes them. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, one]) => `${JSON.stringify(name)}:${canonicalText(one)}`).join(",")}}`;
}

type Place = { of: Record<string, unknown>; name: string };

function placesOf(of: object): Place[] {
  return Object.entries(of).flatMap(([name, value]) => [
    { of: of as Record<string, unknown>, name },
    ...(typeof value === "object" && value !== null ? placesOf(value as object) : []),
  ]);
}

function insert(into: unknown, dice: Dice): void {
  const value = dice.pick(VALUES)();
  if (Array.isArray(into)) into.splice(dice.below(into.length + 1), 0, value);
  else if (typeof into === "object" && into !== null)
    Object.defineProperty(into, dice.pick(NAMES), {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

function nested(depth: number): unknown {
  let value: unknown = 0;
  for (let at = 0; at < depth; at++) value = at % 2 === 0 ? [value] : { a: value };
  return value;
}
