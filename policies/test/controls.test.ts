import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import t from "tap";

type ControlMap = Record<string, { title: string; controls: { id: string; title: string; types: string[] }[] }>;
const map = JSON.parse(readFileSync(join(import.meta.dirname, "../controls.json"), "utf8")) as ControlMap;

t.test("every control names types that the catalogue has, each once, and has an id of its own", async (t) => {
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
});
