import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PROMETHEUS_UNREACHABLE } from "@resontech/notifier/prometheus-unreachable";
import t from "tap";
import { ALERT_RULES } from "../src/alert-rules.ts";

const repository = join(import.meta.dirname, "..", "..", "..");
const RUNBOOKS = "docs/operator/runbooks";
const all = [...ALERT_RULES, PROMETHEUS_UNREACHABLE];

t.test("each alert has a page that names it and says in steps what to do", async (t) => {
  for (const { alert, runbook } of all) {
    t.ok(runbook.startsWith(`${RUNBOOKS}/`), runbook);
    const file = join(repository, runbook);
    if (!t.ok(existsSync(file), `${alert}: ${runbook}`)) continue;
    const text = readFileSync(file, "utf8");
    t.match(text.split("\n")[2], `\`${alert}\``, `${runbook} names ${alert}`);
    t.ok((text.match(/^\d\. /gm) ?? []).length >= 3, `${runbook} has steps`);
  }
});

t.test("no page is of an alert that is not there, and the list names each", async (t) => {
  const list = readFileSync(join(repository, RUNBOOKS, "README.md"), "utf8");
  const alerts = new Set<string>(all.map(({ alert }) => alert));
  t.equal(alerts.size, all.length, "each name once");
  for (const name of readdirSync(join(repository, RUNBOOKS))) {
    if (name === "README.md") continue;
    const line = readFileSync(join(repository, RUNBOOKS, name), "utf8").split("\n")[2] ?? "";
    const named = [...line.matchAll(/`(\w+)`/g)].map(([, alert = ""]) => alert);
    t.ok(named.length > 0, name);
    for (const alert of named) {
      t.ok(alerts.has(alert), `${name}: ${alert}`);
      t.match(list, new RegExp(`\`${alert}\`.*\\(${name}\\)`), `${alert} in the list`);
    }
  }
});

t.test("words for a person are whole sentences with a first thing to do", async (t) => {
  for (const { alert, summary, todo } of all) {
    t.match(summary, /^[^ ].*\.$/, alert);
    t.match(todo, /^[^ ].*\.$/, alert);
  }
});
