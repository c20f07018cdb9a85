/**
 * A network namespace that has a way out, which leads nowhere: default routes of both families and the name server end at a peer that
 * records every packet and drops it. What a program inside says to anybody outside is seen, and stays unanswered.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";

/** RFC 5737, TEST-NET-2: reached over the default route alone. */
const NAME_SERVER = "198.51.100.53";
/** The peer's link address is entered by hand: nobody there answers who asks for it. */
const GATEWAY_LINK = "02:00:00:00:00:01";
const NETWORKS = [
  { family: "-4", inside: ["10.254.253.2/24"], gateway: "10.254.253.1" },
  { family: "-6", inside: ["fd00:254::2/64", "nodad"], gateway: "fd00:254::1" },
] as const;
/** Before anything else sees a packet. Talk between neighbours is the kernel's own: counted, and no message to anybody. */
const RECORDER = `table netdev sink {
  set v4 { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  set v6 { type ipv6_addr . inet_proto . inet_service; flags dynamic; size 65535; }
  set other { type ether_type . inet_proto; flags dynamic; size 65535; }
  chain ingress {
    type filter hook ingress device "eth0" priority 0; policy drop;
    ether type arp drop
    icmpv6 type { mld-listener-report, mld2-listener-report, nd-router-solicit, nd-neighbor-solicit, nd-neighbor-advert } drop
    ip protocol { tcp, udp } update @v4 { ip daddr . ip protocol . th dport counter } drop
    ip6 nexthdr { tcp, udp } update @v6 { ip6 daddr . ip6 nexthdr . th dport counter } drop
    update @other { ether type . meta l4proto counter } drop
  }
}`;

type Listed = {
  nftables: {
    set?: {
      elem?: { elem: { val: { concat: (string | number)[] }; counter: { packets: number } } }[];
    };
  }[];
};

export class Sink implements Disposable {
  readonly name: string;
  readonly #peer: string;

  private constructor(name: string) {
    this.name = name;
    this.#peer = `${name}-sink`;
  }

  static make(name: string): Sink {
    const sink = new Sink(name);
    const peer = sink.#peer;
    try {
      for (const one of [name, peer]) execFileSync("ip", ["netns", "add", one]);
      execFileSync("ip", [
        "link",
        "add",
        "eth0",
        "netns",
        name,
        "type",
        "veth",
        "peer",
        "name",
        "eth0",
        "netns",
        peer,
      ]);
      execFileSync("ip", ["-netns", peer, "link", "set", "eth0", "up"]);
      execFileSync("nsenter", [`--net=/run/netns/${peer}`, "nft", "-f", "-"], { input: RECORDER });
      const inside = (...args: string[]): void =>
        void execFileSync("ip", ["-netns", name, ...args]);
      inside("link", "set", "lo", "up");
      inside("link", "set", "eth0", "up");
      for (const { family, inside: address, gateway } of NETWORKS) {
        inside("address", "add", ...address, "dev", "eth0");
        inside(
          "neighbour",
          "add",
          gateway,
          "lladdr",
          GATEWAY_LINK,
          "dev",
          "eth0",
          "nud",
          "permanent",
        );
        inside(family, "route", "add", "default", "via", gateway);
      }
    } catch (error) {
      sink[Symbol.dispose]();
      throw error;
    }
    return sink;
  }

  /**
   * A program and its arguments as they are run inside, with the name server there.
   * @param resolvConf a file that may be written
   */
  enter(resolvConf: string, command: readonly string[]): [program: string, args: string[]] {
    writeFileSync(resolvConf, `nameserver ${NAME_SERVER}\noptions timeout:1 attempts:1\n`);
    const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
    // Not `ip netns exec`: it mounts a /sys of its own, which hides the host's cgroups from the container engine.
    return [
      "nsenter",
      [
        `--net=/run/netns/${this.name}`,
        "unshare",
        "--mount",
        "sh",
        "-c",
        script,
        resolvConf,
        ...command,
      ],
    ];
  }

  /** What was said to anybody outside so far, one line each: address, protocol, port, packets. */
  recorded(): string[] {
    const listed = execFileSync(
      "nsenter",
      [`--net=/run/netns/${this.#peer}`, "nft", "-j", "list", "sets"],
      { encoding: "utf8" },
    );
    return (JSON.parse(listed) as Listed).nftables
      .flatMap(({ set }) => set?.elem ?? [])
      .map(({ elem: { val, counter } }) => `${val.concat.join(" ")}: ${counter.packets}`);
  }

  [Symbol.dispose](): void {
    for (const one of [this.name, this.#peer]) spawnSync("ip", ["netns", "delete", one]);
  }
}
