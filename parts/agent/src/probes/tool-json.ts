/** What a vendor's tool writes as JSON, read without trust in its shape. */
import { ProbeFailedError } from "./accelerator-probe.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Tools write warnings for people before the document. @throws ProbeFailedError */
export function parseToolJson(tool: string, text: string): unknown {
  const from = text.search(/^\s*[[{]/m);
  try {
    return JSON.parse(text.slice(Math.max(0, from))) as unknown;
  } catch (error) {
    throw new ProbeFailedError(tool, `wrote no JSON: ${text.trim().slice(0, 200)}`, {
      cause: error,
    });
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function at(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path)
    found = Object.hasOwn(fieldsOf(found), name) ? fieldsOf(found)[name] : undefined;
  return found;
}

export function textAt(value: unknown, ...path: string[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found.trim() : "";
}

/** Not negative: a number, a number in quotes, or `{ value, unit }`; null for `N/A` and all else. */
export function numberAt(value: unknown, ...path: string[]): number | null {
  const found = at(value, ...path);
  const plain = typeof found === "object" && found !== null ? fieldsOf(found)["value"] : found;
  if (typeof plain === "number") return Number.isFinite(plain) && plain >= 0 ? plain : null;
  return typeof plain === "string" && /^\d+(\.\d+)?$/.test(plain.trim()) ? Number(plain) : null;
}
