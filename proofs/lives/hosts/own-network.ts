import { execFileSync } from "node:child_process";

/** Sockets of another appliance of this machine are not that host's, and its uninstall must not take the folder away. */
const OWN_RUN = `
mount -t tmpfs tmpfs /run
mkdir /run/resontech
exec "$@"`;

/**
 * A network namespace with a loopback and no route, and a /run of its own. Not `ip netns exec`: it mounts a /sys of its own, which hides the control
 * groups from a container engine.
 *
 * @param run is given what makes of a command one that runs there
 */
export async function inOwnNetwork<T>(
  run: (enter: (command: readonly string[]) => [program: string, args: string[]]) => Promise<T>,
): Promise<T> {
  const name = `rt-host-${process.pid}`;
  execFileSync("ip", ["netns", "add", name]);
  try {
    execFileSync("ip", ["-netns", name, "link", "set", "lo", "up"]);
    return await run((command) => [
      "nsenter",
      [
        `--net=/run/netns/${name}`,
        ...["unshare", "--mount", "--propagation=private", "sh", "-euc", OWN_RUN, "own-run"],
        ...command,
      ],
    ]);
  } finally {
    execFileSync("ip", ["netns", "delete", name]);
  }
}
