/** What jobs must not leave on their node, looked for from outside the product: one line each, empty when nothing is left. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "./local-appliance.ts";

const linesOf = (command: string, args: readonly string[]): string[] =>
  execFileSync(command, args, { encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "");

export function leftovers(appliance: LocalAppliance): string[] {
  const engine = ["--url", `unix://${appliance.engineSocket}`];
  const members = join(appliance.root, "data", "agent", "members");
  return [
    ...linesOf("podman", [
      ...engine,
      "ps",
      "--all",
      "--filter",
      "label=tech.reson.member",
      "--format",
      "container {{.Names}}",
    ]),
    ...linesOf("podman", [
      ...engine,
      "network",
      "ls",
      "--filter",
      "label=tech.reson.attempt",
      "--format",
      "network {{.Name}} of {{.Labels}}",
    ]),
    ...readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .filter((line) => line.includes(`${members}/`))
      .map((line) => `mount ${line}`),
    ...linesOf("losetup", ["--list", "--noheadings", "--output", "NAME,BACK-FILE"])
      .filter((line) => line.includes(`${members}/`))
      .map((line) => `loop device ${line}`),
    ...linesOf("nft", ["list", "tables"])
      .filter((line) => line.endsWith(` resontech-${appliance.instance}`))
      .map((line) => `firewall ${line}`),
    ...(existsSync(members) ? readdirSync(members) : []).map((name) => `member folder ${name}`),
  ];
}

/**
 * Waits for releases that are under way.
 * @param job its id: what others leave is none of its concern, and the firewall is theirs too while they run. Absent: all jobs, when none runs.
 * @returns what is left after that, by the last look: another job may begin meanwhile
 */
export async function untilNothingIsLeft(
  appliance: LocalAppliance,
  job?: string,
  timeoutMs = 180_000,
): Promise<string[]> {
  for (let waitedMs = 0; ; waitedMs += 500) {
    const left = leftBy(leftovers(appliance), job);
    if (left.length === 0 || waitedMs >= timeoutMs) return left;
    await sleep(500);
  }
}

/** Of what was found, that of one job. */
export function leftBy(found: readonly string[], job: string | undefined): string[] {
  if (job === undefined) return [...found];
  if (job === "") throw new Error("a job without an id leaves everything");
  const isOfAnother = (line: string) => !line.startsWith("firewall ") && !line.includes(job);
  const isShared = found.some(isOfAnother);
  return found.filter((line) => !isOfAnother(line) && !(isShared && line.startsWith("firewall ")));
}
