import t from "tap";
import { wrapped } from "../src/wrapped.ts";

t.test("lines end at blanks, and what follows stands indented", async (t) => {
  const text = "08:00:00Z  waits: needs 2 workers of 24 GB, of which one is free\n  and a hint";
  t.equal(wrapped(text, null, 11), text);
  t.equal(wrapped(text, 80, 11), text);
  t.equal(
    wrapped(text, 40, 11),
    [
      "08:00:00Z  waits: needs 2 workers of 24",
      "           GB, of which one is free",
      "  and a hint",
    ].join("\n"),
  );
});

t.test("no line fills the terminal, but for a word that is longer than it", async (t) => {
  const text = `  ${"word ".repeat(60)}end`;
  for (const columns of [20, 40, 80])
    t.ok(
      wrapped(text, columns)
        .split("\n")
        .every((line) => line.length < columns),
    );
  const address = `https://${"a".repeat(90)}`;
  t.match(wrapped(`Open ${address} now`, 40), `\n  ${address}\n  now`);
  t.equal(wrapped("", 40), "");
});
