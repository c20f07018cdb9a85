/** `appliance outbound allow | ls | forbid`: hosts outside that predictors may fetch from, and be answered to. Without them there is none. */
import { createHash, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import type { OutboundHost } from "../outbound/outbound-hosts.ts";
import { networks } from "@resontech/frame/networks";
import { type Command, InvalidArgumentError } from "commander";
import { collected } from "@resontech/frame/collected";
import type { PartPlace } from "@resontech/frame/define-part";
import type { HostShell } from "@resontech/frame/host-shell";
import { inferenceGateway, OUTBOUND_FILE } from "../../part.ts";
import {
  allowOutboundHost,
  forbidOutboundHost,
  type HostsPlace,
  readOutboundHosts,
} from "../outbound/outbound-hosts-file.ts";
import { type NamedHost, outboundHostText, readOutboundHost } from "./named-host.ts";

export function addOutboundCommands(program: Command, shell: HostShell): void {
  const { facts, leaves, print, table, say } = shell;
  const outbound = program
    .command("outbound")
    .description("hosts outside that predictors' urls and callbacks may lead to");

  leaves(outbound.command("allow <host>"), { event: "admin.outbound" })
    .description("let the gateway dial a host by https, at once; port 443 where none is named")
    .option(
      "--network <cidr>",
      "its addresses lie there; without it they must be public; again for each",
      collected,
      [],
    )
    .option("--ca-file <file>", "certificates of who vouches for it, in PEM")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance outbound allow data.example.org\n  appliance outbound allow hooks.hospital.example:8443 --network 10.2.0.0/16 --ca-file /root/hospital-ca.pem",
    )
    .action(async (text: string, options: { network: string[]; caFile?: string }) => {
      const named = hostNamed(text);
      const ca = options.caFile === undefined ? null : certificatesOf(options.caFile);
      const host: OutboundHost = {
        ...named,
        ...(options.network.length === 0 ? {} : { networks: checkedNetworks(options.network) }),
        ...(ca === null ? {} : { ca }),
      };
      const detail = {
        ...named,
        change: "allowed",
        ...(host.networks === undefined ? {} : { networks: host.networks.length }),
        ...(ca === null ? {} : { ca_sha256: createHash("sha256").update(ca).digest("hex") }),
      } as const;
      await recorded(shell, detail, async () => allowOutboundHost(placeOf(facts()), host));
      say(`${outboundHostText(named)} may be dialled from now on`);
    });

  leaves(outbound.command("ls"), { none: "reads settings, and nothing of people" })
    .description("the hosts that may be dialled")
    .option("--json", "one JSON line", false)
    .action(({ json }: { json: boolean }) => {
      const hosts = readOutboundHosts(placeOf(facts()).file);
      if (json) return print({ hosts });
      table(
        ["HOST", "ADDRESSES", "VOUCHED FOR BY"],
        hosts.map((host) => [
          outboundHostText(host),
          host.networks?.join(", ") ?? "public, or the one that is named",
          host.ca === undefined ? "public authorities, the appliance" : "its own authority",
        ]),
        "nobody outside is dialled: appliance outbound allow --help",
      );
    });

  leaves(outbound.command("forbid <host>"), { event: "admin.outbound" })
    .description("take a host away, at once; answers that wait for it are tried until they end")
    .addHelpText("after", "\nExample:\n  appliance outbound forbid data.example.org")
    .action(async (text: string) => {
      const named = hostNamed(text);
      const hosts = readOutboundHosts(placeOf(facts()).file);
      if (!hosts.some(({ host, port }) => host === named.host && port === named.port))
        throw new InvalidArgumentError(
          `${outboundHostText(named)} is not allowed; there are: ${hosts.map(outboundHostText).join(", ")}`,
        );
      await recorded(shell, { change: "forbidden", ...named }, async () => {
        forbidOutboundHost(placeOf(facts()), named);
      });
      say(`${outboundHostText(named)} is not dialled any more`);
    });
}

function hostNamed(text: string): NamedHost {
  const named = readOutboundHost(text);
  if (named === null)
    throw new InvalidArgumentError(
      `${JSON.stringify(text)} is no host: write host, host:port or [address]:port, without https:// and without a path`,
    );
  return named;
}

function checkedNetworks(cidrs: string[]): string[] {
  try {
    networks(cidrs);
  } catch (error) {
    throw new InvalidArgumentError(
      `--network: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return cidrs;
}

/** All of the file's certificates, and nothing else that stands in it. */
function certificatesOf(file: string): string {
  try {
    const found = readFileSync(file, "utf8").match(
      /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g,
    );
    if (found === null) throw new Error("none");
    return found.map((pem) => new X509Certificate(pem).toString()).join("");
  } catch {
    throw new InvalidArgumentError(`--ca-file: ${file} holds no certificate`);
  }
}

function placeOf({ layout, appliance }: PartPlace): HostsPlace {
  return {
    file: layout.setting(OUTBOUND_FILE),
    gid: appliance.uidBase + inferenceGateway.user,
  };
}

async function recorded(
  shell: HostShell,
  detail: EventDetail<"admin.outbound">,
  effect: () => Promise<void>,
): Promise<void> {
  await shell.recorded(
    {
      type: "admin.outbound",
      action: "appliance outbound",
      object: { kind: "appliance", id: "appliance" },
      detail,
    },
    effect,
  );
}
