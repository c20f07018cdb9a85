import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** Parts whose programs are ours, each with what its process loads beside its own file. */
export const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  coordinator: ["coordinator", "coordinator-log-search"],
  serving: ["serving"],
  "s3-front": ["s3-front"],
  notifier: ["notifier"],
  agent: ["agent", "agent-transfers"],
  auditd: ["auditd"],
  "audit-out": ["audit-out", "audit-scrub"],
  vault: ["vault", "audit-scrub", "audit-token"],
  follower: ["follower"],
};

const DEFAULTS = { part: "coordinator", port: 5173, inspect: 9229 };

export const HELP = `usage: npm run dev [-- [--root DIR] [--part NAME | --no-part] [--port N] [--inspect N]]
       npm run dev -- --url URL [--root-certificate FILE] [--port N]

Serves this tree's dashboard in front of an appliance that runs, and runs this tree's coordinator there in the place of the installed one.
What you change shows at once: a component without a reload, a part by a restart. Ctrl-C gives the part back.

  --root DIR               the appliance below DIR; unless stated, the one that npm run try left
  --part NAME              ${Object.keys(PROGRAMS).join(", ")} (${DEFAULTS.part})
  --no-part                the dashboard alone
  --port N                 of the pages (${DEFAULTS.port})
  --inspect N              of Node's inspector, on 127.0.0.1 (${DEFAULTS.inspect})
  --url URL                an appliance of another host, by the address of its front door: the dashboard alone
  --root-certificate FILE  vouches for that door, PEM

  npm run dev
  npm run dev -- --part serving --inspect 9230
  npm run dev -- --root /opt/resontech --no-part
  npm run dev -- --url https://gpu.hospital.example:8000 --root-certificate root.crt

Exit code 0: ended by Ctrl-C, and the part was given back; 1: failed; 2: wrong arguments; 3: no appliance runs there.
docs/developer/development.md says what differs from an installed part.
`;

export class DevelopOptionsError extends Error {
  readonly code = "develop_options_wrong";
}

export type DevelopOptions = {
  help: boolean;
  port: number;
  /** An appliance of this host, or the door of another one. */
  at:
    | { kind: "root"; root: string | null; part: string | null; inspect: number }
    | { kind: "url"; url: URL; caFile: string | null };
};

/** @throws DevelopOptionsError saying what is wrong and what is allowed */
export function readDevelopOptions(args: readonly string[]): DevelopOptions {
  const { help = false, root, part, url, ...values } = parse(args);
  const isPartless = values["no-part"] === true;
  const caFile = values["root-certificate"];
  const port = portOf("--port", values.port, DEFAULTS.port);
  if (url !== undefined) {
    if (root !== undefined || part !== undefined || isPartless || values.inspect !== undefined)
      throw new DevelopOptionsError("--url is of another host: no part runs here, so name none");
    if (!URL.canParse(url) || new URL(url).protocol !== "https:")
      throw new DevelopOptionsError(`${JSON.stringify(url)} is no https address`);
    const at = { kind: "url", url: new URL(url), caFile: caFile ?? null } as const;
    return { help, port, at };
  }
  if (caFile !== undefined)
    throw new DevelopOptionsError(
      "--root-certificate goes with --url: an appliance here has its own",
    );
  if (part !== undefined && isPartless)
    throw new DevelopOptionsError("--part and --no-part exclude one another");
  if (part !== undefined && !Object.hasOwn(PROGRAMS, part))
    throw new DevelopOptionsError(
      `${JSON.stringify(part)} is no part with a program of ours: say ${Object.keys(PROGRAMS).join(", ")}`,
    );
  const inspect = portOf("--inspect", values.inspect, DEFAULTS.inspect);
  const from = root === undefined ? null : resolve(root);
  const chosen = isPartless ? null : (part ?? DEFAULTS.part);
  return { help, port, at: { kind: "root", root: from, part: chosen, inspect } };
}

function portOf(option: string, text: string | undefined, unless: number): number {
  const port = Number(text ?? unless);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new DevelopOptionsError(`${option} takes a port, from 1 to 65535`);
  return port;
}

function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        ...{ root: text, part: text, "no-part": flag, port: text, inspect: text },
        ...{ url: text, "root-certificate": text, help: { ...flag, short: "h" } },
      },
    }).values;
  } catch (error) {
    throw new DevelopOptionsError(error instanceof Error ? error.message : String(error));
  }
}
