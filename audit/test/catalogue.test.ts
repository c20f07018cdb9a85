import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  EVENT_CATALOGUE,
  EVENT_TYPES,
  JOB_STATE_EVENT,
} from "@resontech/contracts/audit-catalogue";
import { JOB_STATES } from "@resontech/contracts/job-states";
import { POLICIES } from "@resontech/contracts/policies";
import t from "tap";

const auditorPage = (page: string): string =>
  readFileSync(join(import.meta.dirname, "../../docs/auditor", page), "utf8");

t.test(
  "docs/auditor/events.md lists exactly the types of the catalogue, with their meaning",
  async (t) => {
    const listed = [
      ...auditorPage("events.md").matchAll(/^\| `([a-z.-]+)` \| ([^|]+) \| ([^|]+) \|$/gm),
    ].map(([, type, kind, meaning]) => [type, kind, meaning]);
    const kindOf = (phases: readonly string[]) =>
      phases.includes("requested")
        ? phases.includes("fact")
          ? "operation or fact"
          : "operation"
        : phases.join(" or ");
    t.same(
      listed,
      EVENT_TYPES.map((type) => [
        type,
        kindOf(EVENT_CATALOGUE[type].phases),
        EVENT_CATALOGUE[type].meaning.replaceAll("|", "\\|"),
      ]),
    );
  },
);

t.test("docs/auditor/entries.md lists exactly the policies that decisions may name", async (t) => {
  const page = auditorPage("entries.md");
  const table = page.slice(
    page.indexOf("**Policies**"),
    page.indexOf("## What is seen only afterwards"),
  );
  const listed = [...table.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|$/gm)].map(([, id, says]) => [
    id,
    says,
  ]);
  t.same(listed, Object.entries(POLICIES));
});

t.test("every state of a job has its record", async (t) => {
  t.same(Object.keys(JOB_STATE_EVENT), [...JOB_STATES]);
});
