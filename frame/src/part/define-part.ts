/**
 * What is known of one process, declared once in `parts/<name>/part.ts`. Supervisor, first boot, backup, support bundle and `house/` read it: pure data and
 * pure functions, so that a test reads all parts without starting one.
 */
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { Static, TSchema } from "typebox";
import type { Operation } from "../operations/operation.ts";
import type { Layout } from "./layout.ts";

/** What a part's own configuration is derived from. */
export type PartFacts = { layout: Layout; appliance: ApplianceConfig };

/** Whose processes alone may open a socket. */
export type Peer = "root" | "coordinator" | "door";

/** A Unix socket `<run>/<part>/<name>/sock`. */
export type SocketDeclaration =
  | { for: Peer; serves: readonly Operation[] }
  /** HTTP of the part's own. The supervisor holds the socket: whoever connects while the part starts anew waits for it. At most one. */
  | { for: Peer; isHeld: true };

/** Of the appliance's own authority; `<name>.crt` and `<name>.key` lie among the part's secrets. */
export type CertificateDeclaration =
  | {
      name: string;
      /** It serves under these, and is known by them where it calls. None: it only calls, and no server can use it. */
      dnsNames: readonly string[];
    }
  /** Of what people's programs and nodes dial: of the appliance's names, or the customer's own. The part sees by itself that another lies there. */
  | { name: "server"; isDoor: true };

/** A file of root's, `<root>/etc/<file>`, that the part alone reads: what the operator set for it. No secret is in it. */
export type SettingDeclaration = { file: string; schema: TSchema };

/** What the supervisor asks the part for `GET /metrics`, every few seconds. */
export type FactsDeclaration = {
  socket: string;
  operation: Operation;
  request: unknown;
  facts: (reply: unknown) => Partial<ApplianceFacts>;
};

/** Who tells whether a part is well. */
export type HealthDeclaration =
  | { socket: string }
  /** A path that its port answers, to who shows one of its certificates where it asks for one. */
  | { httpsPath: string; shows?: string };

/** When the kernel ends it where memory is short. Without those that go last nobody's work goes on. */
export type InShortage = "last" | "middle" | "first";

type Common = {
  /** Of its process, log, secrets, data and sockets, and in `appliance status`. */
  name: string;
  /** It runs as uid and gid `uidBase + user`. Never changed: files of installed appliances belong to it. */
  user: number;
  /** Parts that must be healthy before its first start. */
  after: readonly string[];
  /** The one that it listens on: of the appliance's address, or of 127.0.0.1 as `localhost`. */
  port?: { of: keyof ApplianceConfig["ports"]; on: "perimeter" | "loopback" };
  sockets: Readonly<Record<string, SocketDeclaration>>;
  /** Of `<root>/etc/secrets`, where earlier releases named it otherwise. @default the part's name */
  secretsFolder?: string;
  certificates: readonly CertificateDeclaration[];
  health: HealthDeclaration;
  settings: readonly SettingDeclaration[];
  /** Its folder `<root>/data/<name>`: its own, closed to all others, worked on by one process at a time. Null: it keeps nothing. */
  data: { isBackedUp: boolean } | null;
  /** Bytes that it takes of the disk within its first weeks: preflight and plan count them. */
  firstBytes: number;
  facts?: FactsDeclaration;
  /** It writes into the audit log, by a socket of auditd that has its name. */
  audit?: { family: string };
  /** From start to first health. @default 60000 */
  start?: { timeoutMs: number };
  stop: {
    /** From SIGTERM to SIGKILL. */
    graceMs: number;
  };
  inShortage: InShortage;
};

/** A program of ours. */
export type OwnPart<Config extends TSchema = TSchema> = Common & {
  /** Below `app/` of the release. */
  program: string;
  /** What Node is told beside it. */
  nodeFlags?: readonly string[];
  config: { schema: Config; from: (facts: PartFacts) => Static<Config> };
};

/** A program of others. */
export type EnginePart = Common & {
  /** Below `engines/` of the release, which knows its version by the same name. */
  engine: string;
  args: (facts: PartFacts) => readonly string[];
  env?: () => Record<string, string>;
  /** What it reads: root's, among its secrets. */
  files: readonly { name: string; text: (facts: PartFacts) => string }[];
};

export type PartDeclaration = OwnPart | EnginePart;

/** @throws TypeError for what contradicts itself */
export function definePart<Config extends TSchema>(part: OwnPart<Config>): OwnPart<Config> {
  requireSound(part);
  return part;
}

/** @throws TypeError for what contradicts itself */
export function defineEngine(part: EnginePart): EnginePart {
  requireSound(part);
  return part;
}

function requireSound(part: Common): void {
  for (const socket of [
    ...("socket" in part.health ? [part.health.socket] : []),
    ...(part.facts === undefined ? [] : [part.facts.socket]),
  ])
    if (part.sockets[socket] === undefined)
      throw new TypeError(`${part.name} has no socket named ${socket}`);
  if ("httpsPath" in part.health && part.port === undefined)
    throw new TypeError(`${part.name} has no port that tells whether it is well`);
  if (Object.values(part.sockets).filter((socket) => "isHeld" in socket).length > 1)
    throw new TypeError(`${part.name} has more sockets to be held than one`);
  if (part.facts !== undefined && !served(part, part.facts.socket).includes(part.facts.operation))
    throw new TypeError(
      `${part.name} does not serve ${part.facts.operation.name} to the supervisor`,
    );
}

function served(part: Common, socket: string): readonly Operation[] {
  return operationsOf(part)[socket] ?? [];
}

/** Of each socket that serves operations. */
export function operationsOf({
  sockets,
}: Pick<PartDeclaration, "sockets">): Record<string, readonly Operation[]> {
  return Object.fromEntries(
    Object.entries(sockets).flatMap(([name, socket]) =>
      "serves" in socket ? [[name, socket.serves] as const] : [],
    ),
  );
}

/** The one whose socket the supervisor holds; null where there is none. */
export function heldSocketOf({ sockets }: Pick<PartDeclaration, "sockets">): string | null {
  return Object.entries(sockets).find(([, socket]) => "isHeld" in socket)?.[0] ?? null;
}

/** @param facts is given a reply of the operation's form */
export function factsFrom<Request extends TSchema, Reply extends TSchema>(
  socket: string,
  operation: Operation<Request, Reply>,
  request: Static<Request>,
  facts: (reply: Static<Reply>) => Partial<ApplianceFacts>,
): FactsDeclaration {
  return { socket, operation, request, facts: (reply) => facts(reply as Static<Reply>) };
}

/** A file among its secrets. */
export function secretOf(
  { name, secretsFolder = name }: Pick<PartDeclaration, "name" | "secretsFolder">,
  layout: Layout,
  ...path: string[]
): string {
  return layout.secrets(secretsFolder, ...path);
}

/** Where one of its sockets lies. */
export function socketOf(
  { name }: Pick<PartDeclaration, "name">,
  layout: Layout,
  socket: string,
): string {
  return layout.run(name, socket, "sock");
}
