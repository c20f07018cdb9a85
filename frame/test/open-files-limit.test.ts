import t from "tap";
import { openFilesLimit } from "../src/open-files-limit.ts";

const limits = (hard: string) =>
  `Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 ${hard.padEnd(21)}files     \n`;

t.equal(openFilesLimit(limits("524288")), 65_536);
t.equal(openFilesLimit(limits("4096")), 4_096, "where the host allows no more");
t.equal(openFilesLimit(limits("unlimited")), 65_536);
