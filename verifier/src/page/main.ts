/** The verifier as a page: the form, one check at a time, and its report. */
import { hex } from "../input/bytes.ts";
import { sha256 } from "../platform/sha256.ts";
import { check, type Judged } from "./check.ts";
import { byId, element, fill } from "./dom.ts";
import { field, FIELDS, readInputs, readPolicy } from "./inputs.ts";
import { UnusableInput } from "./read-file.ts";
import { entriesSection } from "./show-entries.ts";
import { answerText, showReport } from "./show-report.ts";

const SHOWN_EVERY_MS = 100;

const form = byId("form", HTMLFormElement);
const start = byId("start", HTMLButtonElement);
const stop = byId("stop", HTMLButtonElement);
const bar = byId("bar", HTMLProgressElement);
const rate = byId("rate", HTMLElement);
const status = byId("status", HTMLElement);
const report = byId("report", HTMLElement);

let running: AbortController | null = null;
/** Of the entries of the report that is shown. */
let listing: AbortController | null = null;

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void run();
});
stop.addEventListener("click", () => running?.abort());
field("policy").addEventListener("change", () => void showPolicyHash());

async function run(): Promise<void> {
  if (running !== null) return;
  running = new AbortController();
  const startedAt = performance.now();
  clearFaults();
  setBusy(true);
  try {
    const inputs = await readInputs();
    const judged = await check(inputs, progressFrom(startedAt), running.signal);
    listing?.abort();
    listing = new AbortController();
    const entries =
      "findings" in judged ? entriesSection(inputs.file, judged, listing.signal) : null;
    fill(report, ...showReport(judged), ...(entries === null ? [] : [entries]), keeping(judged));
    say(`${answerText(judged)}. ${took(judged, performance.now() - startedAt)}`);
    report.focus();
  } catch (error) {
    if (running.signal.aborted) say("Stopped. Nothing was judged.");
    else if (error instanceof UnusableInput) showFault(error.field, error.message);
    else
      say(
        `The check ended by a fault of this page: ${error instanceof Error ? error.message : String(error)}`,
      );
  } finally {
    running = null;
    setBusy(false);
  }
}

function setBusy(isBusy: boolean): void {
  document.body.dataset["state"] = isBusy ? "busy" : "idle";
  for (const name of FIELDS) field(name).disabled = isBusy;
  start.disabled = isBusy;
  stop.hidden = !isBusy;
  byId("progress", HTMLElement).hidden = !isBusy;
  if (!isBusy) return;
  bar.removeAttribute("value");
  fill(rate, "reading");
  fill(report);
  say("Checking.");
}

function progressFrom(startedAt: number): (entries: number, size: number) => void {
  let shownAt = startedAt;
  return (entries, size) => {
    const now = performance.now();
    if (now - shownAt < SHOWN_EVERY_MS) return;
    shownAt = now;
    bar.max = size;
    bar.value = entries;
    fill(rate, `${entries} of ${size} entries, ${perSecond(entries, now - startedAt)}`);
  };
}

function took(judged: Judged, elapsedMs: number): string {
  const entries = "entriesRead" in judged ? judged.entriesRead : 1;
  return `${entries} entries in ${(elapsedMs / 1_000).toFixed(1)} s, ${perSecond(entries, elapsedMs)}.`;
}

function perSecond(entries: number, elapsedMs: number): string {
  return `${Math.round((entries / Math.max(1, elapsedMs)) * 1_000)} a second`;
}

/** The report as a file, and as text to select where a browser saves none. */
function keeping(judged: Judged): HTMLElement {
  const text = `${JSON.stringify(judged)}\n`;
  const save = element("button", { type: "button", id: "save" }, "Save the report");
  save.addEventListener("click", () => saveAs("audit-report.json", text));
  const print = element("button", { type: "button", class: "quiet" }, "Print");
  print.addEventListener("click", () => window.print());
  const shown = element("textarea", {
    id: "json",
    readonly: "",
    rows: "8",
    "aria-label": "Report as JSON",
  });
  shown.value = text;
  return element(
    "section",
    { class: "keep" },
    element("h2", {}, "Keep the report"),
    element(
      "p",
      {},
      "It holds the checkpoint: give it as a known checkpoint when you check the next export.",
    ),
    element("div", { class: "buttons" }, save, print),
    element("details", {}, element("summary", {}, "Report as text"), shown),
  );
}

function saveAs(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = element("a", { href: url, download: name });
  link.click();
  // The download has its own hold of the bytes once the click was handled.
  setTimeout(() => URL.revokeObjectURL(url), 0);
}

async function showPolicyHash(): Promise<void> {
  const shown = byId("policy-hash", HTMLElement);
  fill(shown);
  try {
    const policy = await readPolicy();
    if (policy !== null) fill(shown, `SHA-256 ${hex(sha256(policy))}`);
  } catch (error) {
    if (!(error instanceof UnusableInput)) throw error;
    showFault(error.field, error.message);
  }
}

function showFault(name: string, message: string): void {
  const input = byId(name, HTMLInputElement);
  input.setAttribute("aria-invalid", "true");
  fill(byId(`${name}-fault`, HTMLElement), message);
  say(message);
  // Only what is enabled takes the focus.
  setTimeout(() => input.focus(), 0);
}

function clearFaults(): void {
  for (const name of FIELDS) {
    field(name).removeAttribute("aria-invalid");
    fill(byId(`${name}-fault`, HTMLElement));
  }
}

function say(text: string): void {
  fill(status, text);
}
