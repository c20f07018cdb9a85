/**
 * Loaded before the installer in tests: ends the process, as a power cut would, at the n-th time that it has made something durable. A line of
 * the journal, a blob, a staged tree and a switched link each are one fsync or rename.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const wanted = Number(process.env["RT_TEST_CRASH_AT"] ?? "0");
const countFile = process.env["RT_TEST_COUNT_FILE"];
let count = 0;

function reached(): void {
  count += 1;
  if (count === wanted) process.kill(process.pid, "SIGKILL");
}

const [fsyncSync, renameSync] = [fs.fsyncSync, fs.renameSync];
fs.fsyncSync = (fd) => {
  fsyncSync(fd);
  reached();
};
fs.renameSync = (from, to) => {
  renameSync(from, to);
  reached();
};
syncBuiltinESMExports();
process.on("exit", () => {
  if (countFile !== undefined) fs.writeFileSync(countFile, String(count));
});
