/** The entries of an export that was judged: asked for by filters, read and hashed again, and shown as a table. */
import { isListable, listEntries } from "../listing/list-entries.ts";
import { LISTING_COLUMNS, type ListedEntry, listedCells } from "../listing/listed-entry.ts";
import { type Asked, LISTING_OPTIONS, parseListing } from "../listing/listing-filter.ts";
import { Refused } from "../input/note.ts";
import { webPlatform } from "../platform/platform-web.ts";
import type { Report } from "../verify.ts";
import { element, fill } from "./dom.ts";
import { piecesOf, UnusableInput } from "./read-file.ts";

/** Rows that a table has at most; all that match are counted. */
const MAX_SHOWN = 500;
const MAX_ASKED = 1_024;
const EXAMPLES: Readonly<Record<(typeof LISTING_OPTIONS)[number], string>> = {
  type: "job.submit, or job.*",
  phase: "denied",
  actor: "an id",
  object: "job-7f, or job-*",
  value: "10.0.0.7, or 10.0.*",
  outcome: "refused, ok, or a code",
  from: "2026-11-01",
  to: "2026-11-30",
};

/** Builds the form and the table of entries; null where nothing may be listed. @param signal aborted once another check begins */
export function entriesSection(
  file: File,
  report: Report,
  signal: AbortSignal,
): HTMLElement | null {
  if (!isListable(report)) return null;
  const inputs = LISTING_OPTIONS.map((name) =>
    element("input", {
      type: "text",
      id: `list-${name}`,
      class: "wide",
      spellcheck: "false",
      maxlength: String(MAX_ASKED),
      placeholder: EXAMPLES[name],
    }),
  );
  const show = element("button", { type: "submit", id: "list" }, "Show the entries");
  const said = element("p", { role: "status", id: "list-status" });
  const rows = element("div", { class: "scrolls" });
  const form = element(
    "form",
    { class: "filters" },
    ...LISTING_OPTIONS.map((name, at) =>
      element(
        "div",
        { class: "field" },
        element("label", { for: `list-${name}` }, element("code", {}, `--${name}`)),
        inputs[at]!,
      ),
    ),
    element("div", { class: "buttons" }, show),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = LISTING_OPTIONS.map((name, at) => [name, inputs[at]!.value.trim()]).filter(
      ([, text]) => text !== "",
    );
    show.disabled = true;
    fill(said, "reading");
    void answer(file, report, Object.fromEntries(given) as Asked, signal).then(
      ({ text, found }) => {
        fill(said, text);
        fill(rows, ...(found.length === 0 ? [] : [tableOf(found)]));
        show.disabled = false;
      },
    );
  });
  return element("section", {}, element("h2", {}, "Entries"), form, said, rows);
}

async function answer(
  file: File,
  report: Report,
  asked: Asked,
  signal: AbortSignal,
): Promise<{ text: string; found: ListedEntry[] }> {
  const filter = parseListing(asked);
  if ("fault" in filter) return { text: filter.fault, found: [] };
  const found: ListedEntry[] = [];
  const show = (entry: ListedEntry): void => {
    if (found.length < MAX_SHOWN) found.push(entry);
  };
  try {
    const flush = async (): Promise<void> => undefined;
    const count = await listEntries({
      ...{ bundle: piecesOf(file, signal), report, platform: webPlatform, filter, show },
      flush,
    });
    const first = count > found.length ? ` The first ${found.length} are shown.` : "";
    return { text: `${count} of ${report.entriesRead} entries.${first}`, found };
  } catch (error) {
    if (error instanceof Refused || error instanceof UnusableInput || signal.aborted)
      return { text: error instanceof Error ? error.message : "stopped", found: [] };
    throw error;
  }
}

function tableOf(found: readonly ListedEntry[]): HTMLElement {
  const head = element(
    "tr",
    {},
    ...LISTING_COLUMNS.map((title) => element("th", { scope: "col" }, title)),
  );
  const body = found.map((entry) =>
    element("tr", {}, ...listedCells(entry).map((cell) => element("td", {}, cell))),
  );
  return element(
    "table",
    { class: "entries" },
    element("thead", {}, head),
    element("tbody", {}, ...body),
  );
}
