/**
 * Patterns of a fixed length (ids, digests, times) as one table of allowed bytes for each place: so a string is judged where it stands, without a text
 * of it. What a class of the pattern allows the runtime's own regular expressions say.
 */

export type FixedForm = readonly Uint8Array[];

const PART = /(\[[^\]]+\]|\\.|[^\\[\](){}*+?.|^$])(?:\{([0-9]+)\})?/uy;
const ASCII = 0x80;
const forms = new Map<string, FixedForm | null>();

/** Reads the places of a pattern, once; null for a pattern of another kind. */
export function fixedForm(pattern: string): FixedForm | null {
  const known = forms.get(pattern);
  if (known !== undefined) return known;
  const form =
    pattern.startsWith("^") && pattern.endsWith("$") ? placesOf(pattern.slice(1, -1)) : null;
  forms.set(pattern, form);
  return form;
}

/** Whether the bytes that stand here are of this form. */
export function hasForm(bytes: Uint8Array, at: number, form: FixedForm): boolean {
  for (let place = 0; place < form.length; place++)
    if (form[place]![bytes[at + place]!] !== 1) return false;
  return true;
}

function placesOf(parts: string): FixedForm | null {
  const places: Uint8Array[] = [];
  for (PART.lastIndex = 0; PART.lastIndex < parts.length; ) {
    const [whole, allowed = "", count = "1"] = PART.exec(parts) ?? [];
    if (whole === undefined) return null;
    const matches = new RegExp(`^${allowed}$`, "u");
    const table = Uint8Array.from({ length: ASCII }, (_, byte) =>
      matches.test(String.fromCharCode(byte)) ? 1 : 0,
    );
    for (let left = Number(count); left > 0; left--) places.push(table);
  }
  return places;
}
