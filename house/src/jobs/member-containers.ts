/** Containers of members on one node, as its engine tells of them. */
import { execFileSync } from "node:child_process";

export type ContainerProcess = { name: string; pid: number };

/** Those that run. @param socket of the engine */
export function runningMembers(socket: string): ContainerProcess[] {
  return listed(socket, [], "{{.Names}} {{.Pid}}").map(([name = "", pid]) => ({
    name,
    pid: Number(pid),
  }));
}

/** The exit code of each that has ended and was not removed, by name. */
export function endedMembers(socket: string): Record<string, number> {
  const ended = listed(socket, ["--all", "--filter", "status=exited"], "{{.Names}} {{.ExitCode}}");
  return Object.fromEntries(ended.map(([name = "", code]) => [name, Number(code)]));
}

function listed(socket: string, more: readonly string[], format: string): string[][] {
  const args = [
    "--url",
    `unix://${socket}`,
    "ps",
    ...more,
    "--filter",
    "label=tech.reson.member",
    "--format",
    format,
  ];
  return execFileSync("podman", args, { encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "));
}
