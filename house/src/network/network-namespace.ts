/**
 * A second machine, as far as the network goes: a namespace joined to this one by a pair of virtual Ethernet devices, with a default route
 * through this host. Entered by `nsenter`, not by `ip netns exec`, which mounts a /sys of its own and so hides the control groups from a
 * container engine.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";

export class NetworkNamespace implements Disposable {
  readonly name: string;
  /** This machine's end, and the namespace's. */
  readonly hostAddress: string;
  readonly address: string;

  private constructor(name: string, net: string) {
    this.name = name;
    this.hostAddress = `${net}.1`;
    this.address = `${net}.2`;
  }

  static make(name = `rtn${randomInt(0x100_0000).toString(16)}`): NetworkNamespace {
    const taken = execFileSync("ip", ["-4", "route", "show", "table", "all"], { encoding: "utf8" });
    let net: string;
    do net = `10.254.${randomInt(0, 256)}`;
    while (taken.includes(`${net}.`));
    const made = new NetworkNamespace(name, net);
    const inside = (...args: string[]): void => void execFileSync("ip", ["-netns", name, ...args]);
    execFileSync("ip", ["netns", "add", name]);
    try {
      execFileSync("ip", [
        "link",
        "add",
        name,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        name,
      ]);
      execFileSync("ip", ["address", "add", `${made.hostAddress}/24`, "dev", name]);
      execFileSync("ip", ["link", "set", name, "up"]);
      inside("address", "add", `${made.address}/24`, "dev", "eth0");
      inside("link", "set", "lo", "up");
      inside("link", "set", "eth0", "up");
      inside("route", "add", "default", "via", made.hostAddress);
    } catch (error) {
      made[Symbol.dispose]();
      throw error;
    }
    return made;
  }

  /** A program and its arguments, as they are run inside. */
  enter(program: string, args: readonly string[]): [program: string, args: string[]] {
    return ["nsenter", [`--net=/run/netns/${this.name}`, program, ...args]];
  }

  /** Standard output of a command inside. */
  run(program: string, ...args: string[]): string {
    return execFileSync(...this.enter(program, args), { encoding: "utf8" });
  }

  /** Pulls the cable, or plugs it in again. */
  setLink(state: "up" | "down"): void {
    execFileSync("ip", ["link", "set", this.name, state]);
    // A device that was down has lost the routes that led over it.
    if (state === "up")
      execFileSync("ip", [
        "-netns",
        this.name,
        "route",
        "replace",
        "default",
        "via",
        this.hostAddress,
      ]);
  }

  /** TCP ports that somebody in it listens on, by address. */
  listening(): { address: string; port: number }[] {
    return listeners(this.run("ss", "-Hltn"));
  }

  /** Its end of the pair takes the other along. */
  [Symbol.dispose](): void {
    spawnSync("ip", ["link", "delete", this.name]);
    spawnSync("ip", ["netns", "delete", this.name]);
  }
}

/** What `ss -Hltn` says, IPv6 brackets and interface names removed. */
function listeners(output: string): { address: string; port: number }[] {
  return output
    .split("\n")
    .map((line) => line.trim().split(/\s+/)[3] ?? "")
    .flatMap((local) => {
      const at = local.lastIndexOf(":");
      return at < 0
        ? []
        : [
            {
              address: local.slice(0, at).replaceAll(/[[\]]|%.*/g, ""),
              port: Number(local.slice(at + 1)),
            },
          ];
    });
}
