/** Keys that lead somewhere. Pure. Single keys can be switched off: a voice or a screen reader may send them (WCAG 2.1.4). */
export type Shortcut =
  | { kind: "palette" }
  | { kind: "search" }
  | { kind: "help" }
  | { kind: "go"; path: string }
  /** The first of two keys: the next one decides. */
  | { kind: "prefix" };

export type Pressed = { key: string; withControl: boolean; inField: boolean };

/** Second keys after `g`. */
export const GO: Readonly<Record<string, [path: string, title: string]>> = {
  o: ["/", "Overview"],
  j: ["/jobs", "Jobs"],
  i: ["/inference", "Inference"],
  n: ["/nodes", "Nodes"],
  s: ["/storage", "Storage"],
  k: ["/keys", "Keys"],
  p: ["/people", "People"],
  a: ["/approvals", "Approvals"],
  l: ["/audit", "Audit"],
  b: ["/appliance", "Appliance"],
};

/** @param isAfterG the key before this one was `g` @param areSingleKeysOn of the person's choice */
export function shortcutOf(
  { key, withControl, inField }: Pressed,
  isAfterG: boolean,
  areSingleKeysOn: boolean,
): Shortcut | null {
  if (withControl) return key.toLowerCase() === "k" ? { kind: "palette" } : null;
  if (inField || !areSingleKeysOn) return null;
  if (isAfterG) {
    const to = GO[key];
    return to === undefined ? null : { kind: "go", path: to[0] };
  }
  switch (key) {
    case "g":
      return { kind: "prefix" };
    case "/":
      return { kind: "search" };
    case "?":
      return { kind: "help" };
    default:
      return null;
  }
}
