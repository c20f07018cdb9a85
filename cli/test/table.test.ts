import t from "tap";
import { asTable } from "../src/table.ts";

t.test("no column is lost where the terminal is narrow: the widest are cut", async (t) => {
  const head = ["KEY", "USER", "NAME", "STATE", "ENDS", "LAST USE"];
  const row = [
    "k_0123456789abcdef01234567",
    "researcher-of-ward-seven",
    "first key of the lab",
    "living",
    "in 29 days",
    "2 h ago",
  ];
  const lines = asTable(head, [row], 80).trimEnd().split("\n");
  t.ok(lines.every((line) => line.length <= 80));
  for (const name of head) t.match(lines[0], name);
  t.ok(lines[1]?.startsWith(`${row[0]} `), "what the next command needs is whole");
  t.match(lines[1], /2 h ago$/);
  t.match(asTable(head, [row], null), row.slice(0, 3).join("  "));
});
