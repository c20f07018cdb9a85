import t from "tap";
import { printable, printableLog } from "../src/printable.ts";

t.test("what a terminal obeys is shown, letters of every script stay", async (t) => {
  t.equal(printable("a\u001b[2Jb\u202ec…ü漢"), "a\\u{1b}[2Jb\\u{202e}c…ü漢");
});

t.test("a log has its progress bars line by line, without colours", async (t) => {
  t.equal(printableLog("10 %\r20 %\r\nred: \u001b[31;1mno\u001b[0m\n"), "10 %\n20 %\nred: no\n");
  t.equal(printableLog("\u001b[2Jaway"), "\\u{1b}[2Jaway", "what moves the cursor is shown");
});
