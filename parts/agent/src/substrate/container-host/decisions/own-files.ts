/** Files of `/etc` that a container has of its own: nothing in them is the host's, and both engines mount them as they are. */
export const OWN_FILES = ["passwd", "group", "hosts", "resolv.conf"] as const;
export type OwnFile = (typeof OWN_FILES)[number];

/** Whom `id` and `getpass` name the member's user. */
export const JOB_USER = "job";

/** @param address the container's own; @param hosts names that it knows without asking anybody */
export function ownFiles(
  uid: number,
  hostname: string,
  address: string,
  hosts: readonly { name: string; address: string }[],
): Readonly<Record<OwnFile, string>> {
  return {
    passwd: lines(
      "root:x:0:0:root:/root:/bin/sh",
      `${JOB_USER}:x:${uid}:${uid}:${JOB_USER}:/tmp:/bin/sh`,
      "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin",
    ),
    group: lines("root:x:0:", `${JOB_USER}:x:${uid}:`, "nogroup:x:65534:"),
    hosts: lines(
      "127.0.0.1\tlocalhost",
      "::1\tlocalhost",
      `${address}\t${hostname}`,
      ...hosts.map((host) => `${host.address}\t${host.name}`),
    ),
    // Nobody answers; without a name server resolvers ask this container itself, which refuses at once.
    "resolv.conf": lines("# A job's network has no name service.", "options timeout:1 attempts:1"),
  };
}

function lines(...text: string[]): string {
  return `${text.join("\n")}\n`;
}
