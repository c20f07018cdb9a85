/** A report as the page shows it: the answer first, then the six verdicts, then what they rest on. */
import type { ProofReport } from "../event-proof.ts";
import { binariesText, lacksStarts } from "../completeness/measured.ts";
import { NOT_PROVEN } from "../report/output.ts";
import { pictureOf } from "../report/picture.ts";
import {
  EXIT_NOT_CHECKED,
  EXIT_REFUSED,
  type Verdict,
  VERDICTS,
  type VerdictName,
} from "../verdicts.ts";
import type { Report } from "../verify.ts";
import type { Judged } from "./check.ts";
import { element } from "./dom.ts";
import { drawPicture } from "./draw-picture.ts";

const STRETCHES_SHOWN = 200;
const MEANINGS: Readonly<Record<VerdictName, string>> = {
  SIGNATURE: "every key that the policy lists for this log has signed",
  INTEGRITY: "every entry was hashed again and gives the signed root",
  "APPEND-ONLY": "every checkpoint that you kept is a beginning of this log",
  WITNESSED: "other hosts countersigned",
  COMPLETENESS: "nothing is missing that the log itself speaks of",
  DISCLOSURES: "opened values open the commitments in the entries",
};
const MARKS: Readonly<Record<Verdict["verdict"], { mark: string; look: string }>> = {
  PASS: { mark: "✓", look: "good" },
  FAIL: { mark: "✕", look: "bad" },
  "NOT CHECKED": { mark: "–", look: "open" },
  "SELF-ASSERTED": { mark: "?", look: "open" },
};

export function showReport(judged: Judged): HTMLElement[] {
  const shown = [answerOf(judged), verdictTable(judged)];
  if ("findings" in judged) {
    const picture = pictureOf(judged);
    if (picture !== null)
      shown.push(section("When the log was written", drawPicture(picture), stretchTable(judged)));
    shown.push(section("What was read", factsOf(judged), typeTable(judged)));
  } else shown.push(section("What was read", ...proofFacts(judged)));
  shown.push(section("What this does not prove", limits()));
  return shown;
}

/** The one sentence that a reader takes away. */
export function answerText({ exitCode, verdicts, refused }: Judged): string {
  if (exitCode === EXIT_REFUSED) return `Refused: ${refused}`;
  if (exitCode === EXIT_NOT_CHECKED)
    return "Nothing failed, but not everything that counts could be checked";
  if (exitCode === 0) return "Nothing failed";
  return `Failed: ${VERDICTS.filter((name) => verdicts[name].verdict === "FAIL").join(", ")}`;
}

function answerOf(judged: Judged): HTMLElement {
  const { exitCode, verdicts } = judged;
  const look = exitCode === 0 ? "good" : exitCode === EXIT_NOT_CHECKED ? "open" : "bad";
  const open = VERDICTS.filter((name) => verdicts[name].verdict === "NOT CHECKED");
  const answer = element("div", {
    class: `answer ${look}`,
    id: "answer",
    "data-exit-code": String(exitCode),
  });
  answer.appendChild(element("p", { class: "answer-text" }, answerText(judged)));
  if ("freshness" in judged && judged.freshness !== undefined)
    answer.appendChild(
      element(
        "p",
        {},
        judged.freshness === null
          ? "No export in this log carries your nonce: it may be older than you gave it."
          : `The export of entry ${judged.freshness.entry} carries your nonce: the log is no older than you gave it.`,
      ),
    );
  if ("binaries" in judged && lacksStarts(judged.binaries))
    answer.appendChild(
      element(
        "p",
        {},
        "No start in this log was measured: nothing could be compared with the release.",
      ),
    );
  if (open.length > 0 && exitCode !== EXIT_REFUSED)
    answer.appendChild(element("p", {}, `Not checked, and so not known: ${open.join(", ")}.`));
  return answer;
}

function verdictTable({ verdicts }: Judged): HTMLElement {
  const body = element("tbody");
  for (const name of VERDICTS) {
    const { verdict, reason, index } = verdicts[name];
    const { mark, look } = MARKS[verdict];
    const badge = element(
      "span",
      { class: `badge ${look}` },
      element("span", { "aria-hidden": "true" }, mark),
      verdict,
    );
    body.appendChild(
      element(
        "tr",
        { "data-verdict": name },
        element("th", { scope: "row" }, name, element("small", {}, MEANINGS[name])),
        element("td", {}, badge),
        element("td", { class: "number" }, index === undefined ? "" : String(index)),
        element("td", { class: "reason" }, reason),
      ),
    );
  }
  return section(
    "Verdicts",
    table("verdicts", ["Verdict", "Result", "First entry", "Reason"], body),
  );
}

function factsOf(report: Report): HTMLElement {
  const {
    checkpoint,
    policySha256,
    bundleBytes,
    entriesRead,
    from,
    to,
    underOtherSchemas,
    findings,
    binaries,
    sample,
  } = report;
  const facts: [string, string][] = [["Policy, SHA-256", policySha256 ?? "none given"]];
  for (const sha256 of binaries.releases) facts.push(["Release, SHA-256", sha256]);
  if (checkpoint !== null)
    facts.push(
      ["Log", checkpoint.origin],
      ["Checkpoint", `${checkpoint.size} entries, root ${checkpoint.root}`],
    );
  facts.push(["Export", `${bundleBytes} bytes, ${entriesRead} entries read`]);
  if (from !== null && to !== null) facts.push(["Time of the log", `${from} to ${to}`]);
  if (underOtherSchemas > 0)
    facts.push([
      "Other schemas",
      `${underOtherSchemas} entries are of a release that this one does not know: their envelope was checked`,
    ]);
  if (findings !== null && findings.abruptStarts > 0)
    facts.push(["Restarts", `${findings.abruptStarts} without a stop in good order`]);
  const starts = binariesText(binaries);
  if (starts !== null) facts.push(["Binaries", starts]);
  if (sample !== undefined)
    facts.push([
      "Sample",
      `${sample.entries.length} of ${sample.population} entries (${sample.filter || "all"}): ${sample.entries.join(" ")}`,
    ]);
  return definitions(facts);
}

function proofFacts({ checkpoint, policySha256, index, event }: ProofReport): HTMLElement[] {
  const facts: [string, string][] = [["Policy, SHA-256", policySha256 ?? "none given"]];
  if (checkpoint !== null)
    facts.push(["Log", checkpoint.origin], ["Entry", `${index} of ${checkpoint.size}`]);
  return event === null
    ? [definitions(facts)]
    : [definitions(facts), element("pre", { tabindex: "0" }, event)];
}

function stretchTable({ findings }: Report): HTMLElement {
  const stretches = findings?.stretches ?? [];
  if (stretches.length === 0) return element("p", {}, "No stretch in which the log says nothing.");
  const body = element("tbody");
  for (const { kind, prod, from, to, index } of stretches.slice(0, STRETCHES_SHOWN))
    body.appendChild(
      element(
        "tr",
        {},
        element("td", {}, prod === undefined ? kind : `${kind} (${prod})`),
        element("td", {}, from),
        element("td", {}, to),
        element("td", { class: "number" }, String(index)),
      ),
    );
  const shown = table("stretches", ["Stretch", "From", "To", "Before entry"], body);
  const more = stretches.length - STRETCHES_SHOWN;
  return more > 0
    ? element("div", {}, shown, element("p", {}, `and ${more} more, in the report`))
    : shown;
}

function typeTable({ types }: Report): HTMLElement {
  const body = element("tbody");
  for (const [type, count] of Object.entries(types))
    body.appendChild(
      element("tr", {}, element("td", {}, type), element("td", { class: "number" }, String(count))),
    );
  const all = element(
    "details",
    {},
    element("summary", {}, `Entries by type (${Object.keys(types).length})`),
  );
  all.appendChild(table("types", ["Type", "Entries"], body));
  return all;
}

function limits(): HTMLElement {
  const [, ...points] = NOT_PROVEN.split(/\n {2}- /);
  const list = element("ul");
  for (const point of points)
    list.appendChild(element("li", {}, point.replace(/\s+/g, " ").trim()));
  return list;
}

function section(title: string, ...children: readonly HTMLElement[]): HTMLElement {
  return element("section", {}, element("h2", {}, title), ...children);
}

function table(name: string, headings: readonly string[], body: HTMLElement): HTMLElement {
  const head = element(
    "tr",
    {},
    ...headings.map((heading) => element("th", { scope: "col" }, heading)),
  );
  return element(
    "div",
    { class: "scrolls" },
    element("table", { class: name }, element("thead", {}, head), body),
  );
}

function definitions(facts: readonly [string, string][]): HTMLElement {
  return element(
    "dl",
    {},
    ...facts.flatMap(([term, value]) => [element("dt", {}, term), element("dd", {}, value)]),
  );
}
