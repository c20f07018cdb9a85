import t from "tap";
import { processLimit } from "../src/process-limit.ts";

const limits = (hard: string): string =>
  [
    "Limit                     Soft Limit           Hard Limit           Units     ",
    `Max processes             1000                 ${hard.padEnd(21)}processes `,
    "Max open files            1024                 524288               files     ",
  ].join("\n");

t.test("a user may have as many processes as can be allowed without a right to allow more", (t) => {
  t.equal(processLimit(limits("96365"), "4194304\n"), 96_365);
  t.equal(processLimit(limits("96365"), "32768\n"), 32_768);
  t.equal(processLimit(limits("unlimited"), "4194304\n"), 1_048_576);
  t.equal(processLimit(limits("unlimited"), "32768\n"), 32_768);
  t.ok(processLimit() > 0, "here");
  t.end();
});
