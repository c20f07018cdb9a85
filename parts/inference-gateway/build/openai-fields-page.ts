/**
 * The tables of docs/researcher/openai-fields.md, out of the table of fields. `node parts/inference-gateway/build/openai-fields-page.ts` writes them; a test fails
 * when they differ.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ENGINES_OF,
  type FieldShape,
  OPENAI_FIELDS,
  OPENAI_PARTS,
  type OpenAiField,
  PASSED_OVER,
  useOf,
} from "@resontech/contracts/openai-fields";
import { OPENAI_ASKED, OPENAI_PATH, type OpenAiAsked } from "@resontech/contracts/openai-surface";

export const FIELDS_FILE = join(import.meta.dirname, "../../../docs/researcher/openai-fields.md");

const [BEGIN, END] = ["<!-- tables: begin -->", "<!-- tables: end -->"];

/** @param page the document as it is */
export function fieldsPage(page: string): string {
  const [before = "", rest = ""] = page.split(BEGIN);
  const [, after = ""] = rest.split(END);
  const tables = OPENAI_ASKED.map(tableOf).join("\n\n");
  return `${before}${BEGIN}\n\n${tables}\n\n${END}${after}`;
}

function tableOf(call: OpenAiAsked): string {
  const engines = ENGINES_OF[call];
  const row = (name: string, values: string, { uses, neutral, neutralAs }: OpenAiField): string => {
    const said = engines.map((engine) => {
      const use = useOf(uses, call, engine);
      return use === "refused" ? `refused${exceptOf(neutral, neutralAs)}` : use;
    });
    return `| \`${name}\` | ${values} | ${said.join(" | ")} |`;
  };
  const parts =
    call === "chat/completions"
      ? Object.entries(OPENAI_PARTS).map(([name, uses]) =>
          row(name, "a part of a message", { shape: { kind: "own" }, uses }),
        )
      : [];
  return [
    `## \`${OPENAI_PATH}/${call}\``,
    "",
    `| field | values | ${engines.join(" | ")} |`,
    "|---".repeat(engines.length + 2) + "|",
    ...Object.entries(OPENAI_FIELDS[call]).map(([name, field]) =>
      row(name, valuesOf(field.shape), field),
    ),
    ...parts,
    "",
    `Passed over: ${PASSED_OVER[call].map((name) => `\`${name}\``).join(", ")}.`,
  ].join("\n");
}

function exceptOf(neutral: readonly unknown[] = [], neutralAs?: string): string {
  const values = neutral.map((value) => `\`${JSON.stringify(value)}\``);
  if (neutralAs !== undefined) values.push(`the value of \`${neutralAs}\``);
  return values.length === 0 ? "" : `, but for ${values.join(", ")}`;
}

function valuesOf(shape: FieldShape): string {
  if (shape.kind === "integer") return `whole, ${shape.least} to ${shape.most}`;
  if (shape.kind === "number") return `${shape.least} to ${shape.most}`;
  if (shape.kind === "boolean") return "true, false";
  if (shape.kind === "word") return shape.words.join(", ");
  return shape.kind === "text" ? "a text" : "as in OpenAI's API";
}

if (import.meta.main) writeFileSync(FIELDS_FILE, fieldsPage(readFileSync(FIELDS_FILE, "utf8")));
