/**
 * Podman's monitor of a program that was run inside a container stays for minutes after that program's end, unless the engine ends it first: nothing of
 * the test runs any more. The monitor of the container itself is another matter.
 * @param command of a process, from its beginning
 */
export function isExecMonitor(command: string): boolean {
  const [, container, session] = /^\S*\/conmon .*-c ([0-9a-f]+) -u ([0-9a-f]+)/.exec(command) ?? [];
  return container !== undefined && session !== undefined && !container.startsWith(session);
}
