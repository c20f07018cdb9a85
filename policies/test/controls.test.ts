import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import { EVENT_ANSWERS } from "@resontech/contracts/audit-answers";
import { CONTROLS } from "@resontech/contracts/audit-controls";
import t from "tap";
import { ANSWERS_FILE, answersPage, CONTROLS_FILE, controlsText } from "../build/event-answers.ts";

type ControlMap = Record<
  string,
  { title: string; controls: { id: string; title: string; limits: string; types: string[] }[] }
>;
const map = JSON.parse(
  readFileSync(join(import.meta.dirname, "../controls.json"), "utf8"),
) as ControlMap;

t.test(
  "every control names types that the catalogue has, each once, and has an id of its own",
  async (t) => {
    t.same(Object.keys(map), ["hipaa", "soc2", "gdpr", "dora", "ai-act"]);
    for (const [framework, { controls }] of Object.entries(map)) {
      const ids = controls.map(({ id }) => id);
      t.equal(new Set(ids).size, ids.length, framework);
      for (const { id, types } of controls) {
        t.equal(new Set(types).size, types.length, `${framework} ${id}`);
        t.same(
          types.filter((type) => !(EVENT_TYPES as string[]).includes(type)),
          [],
          `${framework} ${id}`,
        );
      }
    }
  },
);

/** How each framework cites itself. */
const CITED: Readonly<Record<string, RegExp>> = {
  hipaa: /^164\.3[0-9]{2}(?:\([a-zA-Z0-9]+\))+$/,
  soc2: /^CC[1-9]\.[1-9]$/,
  gdpr: /^Article [1-9][0-9]?(?:\([0-9a-z]+\))*$/,
  dora: /^(?:Delegated Regulation \(EU\) 2024\/1774, )?Article [1-9][0-9]?$/,
  "ai-act": /^Article [1-9][0-9]{0,2}(?:\([0-9a-z]+\))*$/,
};

t.test(
  "every control is cited as its framework writes it, and says what no log can show for it",
  async (t) => {
    for (const [framework, { controls }] of Object.entries(map)) {
      for (const { id, limits } of controls) {
        t.match(id, CITED[framework], framework);
        t.match(limits, /^[A-Z].{20,}\.$/, `${framework} ${id}`);
      }
    }
  },
);

t.test(
  "what is refused bears on the control of every framework that asks who may come in",
  async (t) => {
    for (const [framework, control] of [
      ["hipaa", "164.312(a)(1)"],
      ["soc2", "CC6.1"],
      ["gdpr", "Article 32"],
      ["dora", "Article 9"],
    ] as const) {
      const types = map[framework]?.controls.find(({ id }) => id === control)?.types ?? [];
      for (const type of [
        "auth.failure",
        "auth.refused",
        "data.object.refused",
        "data.bucket.refused",
      ])
        t.ok(types.includes(type), `${framework} ${control}: ${type}`);
    }
  },
);

t.test(
  "each type of event says which questions and controls it answers, or why none; files and documents say the same",
  async (t) => {
    for (const type of EVENT_TYPES)
      for (const answered of Object.values(EVENT_ANSWERS[type]))
        if ("none" in answered) t.match(answered.none, /^[A-Z].{20,}\.$/, type);
        else {
          t.ok(answered.length > 0, type);
          t.equal(new Set(answered).size, answered.length, type);
        }
    const mapped = Object.entries(map).flatMap(([framework, { controls }]) =>
      controls.map(({ id }) => `${framework} ${id}`),
    );
    t.same([...CONTROLS].sort(), mapped.sort());
    const [controls, page] = [CONTROLS_FILE, ANSWERS_FILE].map((file) =>
      readFileSync(file, "utf8"),
    );
    t.same(
      JSON.parse(controls!),
      JSON.parse(controlsText(controls!)),
      "else: node policies/build/event-answers.ts",
    );
    t.ok(page === answersPage(page!), "else: node policies/build/event-answers.ts");
  },
);

t.test(
  "what people do with rights, data and keys is in a control; what leaves is in an answer",
  async (t) => {
    const controlled = new Set(
      Object.values(map).flatMap(({ controls }) => controls.flatMap(({ types }) => types)),
    );
    t.same(
      EVENT_TYPES.filter((type) => !controlled.has(type)),
      [],
      "types in no control",
    );
  },
);
