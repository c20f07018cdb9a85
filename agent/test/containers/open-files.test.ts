import t from "tap";
import { openFilesOf } from "../../src/containers/open-files.ts";

const limits = (soft: string, hard: string) =>
  `Limit                     Soft Limit           Hard Limit           Units     \nMax open files            ${soft.padEnd(21)}${hard.padEnd(21)}files     \n`;

t.equal(openFilesOf(limits("1024", "524288")), 65_536);
t.equal(openFilesOf(limits("1024", "4096")), 4_096, "where the host allows no more");
t.equal(openFilesOf(limits("1024", "unlimited")), 65_536);
