/** The newest errors of several logs in the order of their times. Pure. */
import { logTime, readLogLine } from "../../status/decisions/log-line.ts";

const MOST = 500;
const MAX_LINE = 2_000;
/** Levels of our processes from 50 on, and the words of engines. */
const ERROR =
  /"level":(?:[5-9]\d|\d{3})\b|\b(?:ERROR|FATAL|PANIC|CRITICAL|\[(?:ERR|FTL)\]|emerg|alert|crit)\b/;

/** @param logs with secrets and personal values taken out before */
export function recentErrors(logs: readonly { path: string; text: string }[]): string {
  return logs
    .flatMap(({ path, text }) => {
      const part = path.replace(/^.*\//, "").replace(/\.log$/, "");
      let before = 0;
      return text.split("\n").flatMap((line) => {
        if (line === "") return [];
        const { at, text: read } = readLogLine(line);
        before = at ?? before;
        if (!ERROR.test(line)) return [];
        return [{ order: before, line: `${logTime(at)} ${part} ${read.slice(0, MAX_LINE)}\n` }];
      });
    })
    .toSorted((a, b) => a.order - b.order)
    .slice(-MOST)
    .map(({ line }) => line)
    .join("");
}
