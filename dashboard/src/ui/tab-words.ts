/** What a browser's tab shows of a page: its title and its picture. Pure. */
import type { Tone } from "./state-word.ts";

/** `● digits · running – ResonTech` of what has a state, `Nodes – ResonTech` of any other page. */
export function tabTitle(about: string, word?: string): string {
  return word === undefined ? `${about} – ResonTech` : `● ${about} · ${word} – ResonTech`;
}

/** A tab's bar is light or dark whatever the page is, so these stand out on both. */
const COLOURS: Record<Tone, string> = {
  good: "#22a06b",
  busy: "#2f81d6",
  wait: "#c98a00",
  bad: "#e2483d",
  quiet: "#8590a2",
};

/** A ring, which a state fills. The page's policy lets in pictures of this form. */
export function faviconOf(tone?: Tone): string {
  const fill = tone === undefined ? "none" : COLOURS[tone];
  const line = tone === undefined ? "#2f81d6" : COLOURS[tone];
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.5" fill="none" stroke="${line}" stroke-width="2"/><circle cx="8" cy="8" r="3.5" fill="${fill}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
