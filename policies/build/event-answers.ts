/**
 * What is made of the catalogue of answers: the types of each control in `controls.json`, and the table of docs/auditor/answers.md.
 * `node policies/build/event-answers.ts` writes both; a test fails when they differ.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_ANSWERS, typesThatBearOn } from "@resontech/contracts/audit-answers";
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import { CONTROLS } from "@resontech/contracts/audit-controls";

export const CONTROLS_FILE = join(import.meta.dirname, "../controls.json");
export const ANSWERS_FILE = join(import.meta.dirname, "../../docs/auditor/answers.md");

const [BEGIN, END] = ["<!-- table: begin -->", "<!-- table: end -->"];

type Controls = Record<string, { controls: { id: string; types: string[] }[] }>;

/** @param text of the file: titles and limits stay as somebody wrote them */
export function controlsText(text: string): string {
  const map = JSON.parse(text) as Controls;
  for (const [framework, { controls }] of Object.entries(map))
    for (const control of controls) {
      const known = CONTROLS.find((each) => each === `${framework} ${control.id}`);
      if (known === undefined) throw new Error(`no type bears on ${framework} ${control.id}`);
      control.types = typesThatBearOn(known);
    }
  return `${JSON.stringify(map, null, 2)}\n`;
}

/** @param page the document as it is */
export function answersPage(page: string): string {
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const said = (answered: readonly string[] | { none: string }): string =>
    "none" in answered ? `none: ${answered.none}` : answered.map((one) => `\`${one}\``).join(", ");
  const rows = EVENT_TYPES.map((type) => {
    const { questions, controls } = EVENT_ANSWERS[type];
    return `| \`${type}\` | ${said(questions)} | ${said(controls)} |`;
  });
  const table = ["| event | questions | controls |", "|---|---|---|", ...rows].join("\n");
  return `${before}${BEGIN}\n${table}\n${END}${after}`;
}

if (import.meta.main) {
  writeFileSync(CONTROLS_FILE, controlsText(readFileSync(CONTROLS_FILE, "utf8")));
  writeFileSync(ANSWERS_FILE, answersPage(readFileSync(ANSWERS_FILE, "utf8")));
}
