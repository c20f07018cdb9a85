import t from "tap";
import { markedParts } from "../src/pages/job/logs/marked-parts.ts";
import { partAround } from "../src/pages/job/logs/part-around.ts";

t.test("what a search found is told apart, whatever characters it has", async (t) => {
  const parts = (line: string, text: string, isCaseSensitive = false) =>
    markedParts(line, text, isCaseSensitive).map(({ text: part, isMatch }) =>
      isMatch ? `[${part}]` : part,
    );
  t.same(parts("Loss 1, loss 2", "loss"), ["[Loss]", " 1, ", "[loss]", " 2"]);
  t.same(parts("Loss 1, loss 2", "loss", true), ["Loss 1, ", "[loss]", " 2"]);
  t.same(parts("a.c abc (a.c)", "a.c"), ["[a.c]", " abc (", "[a.c]", ")"]);
  t.same(parts("none", "x"), ["none"]);
  t.same(parts("ÉTÉ", "é"), ["[É]", "T", "[É]"]);
});

t.test("the line at a byte is found in a part of the log", async (t) => {
  const text = "rest\nzwölf\nlast";
  t.same(partAround({ offset: 100, text }, 100).marked, 0);
  t.same(partAround({ offset: 100, text }, 105).marked, 1);
  t.same(partAround({ offset: 100, text }, 112).marked, 2);
  t.same(partAround({ offset: 100, text }, 900).marked, 2, "beyond the part, its last line");
});
