/** `appliance disk`, `appliance logs`: what an operator looks at on the host itself. */
import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { refusesBelow } from "@resontech/contracts/log-reserve";
import { leaves } from "../audit/command-audit.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { formatSize } from "../status/decisions/quantities.ts";
import { followLogs } from "./follow-logs.ts";
import { readDisks } from "../status/read-disks.ts";

const LINES = 50;
const MAX_LINES = 100_000;

export function addHostCommands(
  program: Command,
  { openContext, print, table }: OperatorShell,
): void {
  leaves(program.command("disk"), { none: "status" })
    .description("the file systems that the appliance writes to, and their room")
    .option("--json", "one JSON line", false)
    .action(({ json }: { json: boolean }) => {
      const disks = readDisks(openContext().layout);
      if (json) return print(disks);
      table(
        ["HOLDS", "FREE", "OF", "FILES FREE", "HELD BACK", "JOBS REFUSED BELOW", "PATH"],
        disks.map(({ holds, path, totalBytes, freeBytes, totalInodes, freeInodes, logReserve }) => [
          ...[holds.join(", "), formatSize(freeBytes), formatSize(totalBytes)],
          totalInodes === 0 ? "-" : `${Math.floor((freeInodes / totalInodes) * 100)} %`,
          ...(logReserve === null
            ? ["-", "-"]
            : [formatSize(logReserve.heldBytes), formatSize(refusesBelow(logReserve))]),
          path,
        ]),
        "no disk",
      );
    });

  leaves(program.command("logs [part]"), {
    none: "logs of parts hold no entry of the audit log and no data of jobs",
  })
    .description("the last lines of a part's log, or of all parts', with readable times")
    .option("-f, --follow", "go on with what comes", false)
    .option("-n, --lines <n>", "so many lines of each", lines, LINES)
    .action(async (part: string | undefined, options: { follow: boolean; lines: number }) => {
      const { layout } = openContext();
      const folder = layout.log("");
      const there = existsSync(folder)
        ? readdirSync(folder).filter((name) => name.endsWith(".log"))
        : [];
      const names = there.map((name) => basename(name, ".log")).sort();
      if (part !== undefined && !names.includes(part))
        throw new InvalidArgumentError(
          `no part named ${JSON.stringify(part)} has a log; there are: ${names.join(", ")}`,
        );
      const wanted = part === undefined ? names : [part];
      await followLogs(
        wanted.map((name) => ({ part: name, file: layout.log(`${name}.log`) })),
        options,
        (line) => process.stdout.write(`${line}\n`),
      );
    });
}

function lines(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > MAX_LINES)
    throw new InvalidArgumentError(`a number of lines from 0 to ${MAX_LINES} is meant`);
  return value;
}
