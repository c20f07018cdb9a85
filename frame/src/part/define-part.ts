/**
 * What is known of one process, declared once in `parts/<name>/part.ts`. Supervisor, first boot, backup, support bundle and `house/` read it: pure data and
 * pure functions, so that a test reads all parts without starting one.
 */
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import type { Static, TSchema } from "typebox";
import type { Operation } from "../operations/operation.ts";
import type { FindingsDeclaration } from "./finding.ts";
import type { HostKind, JobHost } from "./job-host.ts";
import type { Layout } from "./layout.ts";

/** What is known on hosts of either kind. */
export type HostFacts = {
  layout: Layout;
  release: Pick<ReleaseManifest, "version" | "images">;
  host: JobHost;
} & HostReader;

/** What a part's configuration is derived from: the appliance, its release, its host, and where other parts have what this one needs of them. */
export type PartFacts = HostFacts & {
  appliance: ApplianceConfig;
  /** Every part of this appliance. */
  parts: readonly PartDeclaration[];
  /** Where a part's socket lies. @throws TypeError for one that no part declares */
  socket: (part: string, socket: string) => string;
  /** Where a file among a part's secrets lies. @throws TypeError for a part that is not declared */
  secret: (part: string, file: string) => string;
};

/** Which appliance, and where it lies. */
export type PartPlace = Pick<PartFacts, "layout" | "appliance">;

/** What is read of the host. */
export type HostReader = {
  /** Text of a file; null where there is none. */
  read: (file: string) => string | null;
  has: (path: string) => boolean;
  /** Where a path leads, without links. */
  realPath: (path: string) => string;
  /** Names of what lies in a folder, in order. */
  names: (folder: string) => readonly string[];
  /** Of the first certificate of a PEM file, hex. */
  certificateSha256: (file: string) => string;
  /** Of the file system of a folder, in bytes. */
  room: (folder: string) => { totalBytes: number; freeBytes: number };
  /** Bytes of the files of a folder; 0 where there is none. */
  sizeOf: (folder: string) => number;
  /** How many processors a process may use, and how many files it may have open. */
  limits: () => { processors: number; openFiles: number };
  now: () => Date;
};

/** Whose processes alone may open a socket or read a folder: root's, or those of the part with this name. */
export type Peer = "root" | (string & {});

/** A Unix socket `<run>/<part>/<name>/sock`. */
export type SocketDeclaration =
  | { for: Peer; serves: readonly Operation[] }
  /** HTTP of the part's own. The supervisor holds the socket: whoever connects while the part starts anew waits for it. At most one. */
  | { for: Peer; isHeld: true }
  | {
      for: Peer;
      /** A protocol of the part's own. */
      speaks: string;
      /** Below `<run>`, where it lies elsewhere. */
      at?: readonly [string, ...string[]];
    };

/** Of the appliance's own authority; `<name>.crt` and `<name>.key` lie among the part's secrets. */
export type CertificateDeclaration =
  | {
      name: string;
      /** It serves under these, and is known by them where it calls. None: it only calls, and no server can use it. */
      dnsNames: readonly string[] | ((appliance: ApplianceConfig) => readonly string[]);
    }
  /** Of an authority of its own, below the appliance's. */
  | { name: "intermediate"; isAuthority: true }
  /** Of what people's programs and nodes dial: of the appliance's names, or the customer's own. */
  | { name: "server"; isDoor: true };

/** How a part comes to another certificate while it runs. Without it, the part sees by itself that another lies there. */
export type CertificateChange = {
  signal: NodeJS.Signals;
  /** `health`: whoever asks its port is shown another certificate than the file has. `renewal`: whoever renews the file says so. */
  toldBy: "health" | "renewal";
};

/** A file of root's, `<root>/etc/<file>`, that the part alone reads: what the operator set for it. No secret is in it. */
export type SettingDeclaration = {
  file: string;
  schema: TSchema;
  /** The part follows the file while it runs. @default the part reads it at its start */
  isFollowed?: true;
  /** Files among the part's secrets without which a value of the setting is of no use. */
  needs?: (value: unknown) => readonly string[];
};

/** What `etc/appliance.json` lets an operator choose after the install. */
export type Choice =
  | "bucketQuotaBytes"
  | "hangAfterMinutes"
  | "outputExport"
  | "retention"
  | "unwitnessed";

/** A file among the part's secrets, `<root>/etc/secrets/<part>/<name>`. */
export type SecretDeclaration =
  /** Made once, at the first start. */
  | { name: string; kind: SecretKind; isWanted?: (facts: PartFacts) => boolean }
  /** The same bytes as a file among the secrets of another part. */
  | { name: string; sameAs: { part: string; name: string } };

/** `random`: 256 bits. `p256`: a key that signs, PKCS #8. `nkey-…`: seeds of NATS. `s3-key-pair`: JSON. */
export type SecretKind = "random" | "p256" | "nkey-user" | "nkey-account" | "s3-key-pair";

/** A value that the first start settles for good: root's file `<root>/etc/<file>`, readable by all. */
export type SettledDeclaration = {
  file: string;
  settle: (facts: PartFacts) => string;
  /** What does not hold is settled anew. @default anything does */
  holds?: (text: string) => boolean;
};

/** What the supervisor asks the part for `GET /metrics`, every few seconds. */
export type FactsDeclaration = {
  socket: string;
  operation: Operation;
  request: unknown;
  facts: (reply: unknown) => Partial<ApplianceFacts>;
};

/** Who tells whether a part is well. */
export type HealthDeclaration =
  /** `GET /healthz`. */
  | { socket: string; headers?: Readonly<Record<string, string>> }
  /** It ends its side of a connection to each of these sockets once the other side is ended. */
  | { endsConnections: readonly string[] }
  /** A path that its port answers: to who shows a certificate, its own or one in another folder of secrets, where it asks for one. */
  | {
      httpsPath: string;
      /** @default 200 */
      status?: number;
      shows?: string | { folder: string; name: string };
      /** @default the part's */
      port?: keyof ApplianceConfig["ports"];
    }
  /** What it says first on its port, by itself or when it is asked. */
  | { greeting: RegExp; asked?: Uint8Array };

/** A folder below `<root>/data`. */
export type FolderDeclaration = {
  name: string;
  /** @default the part itself */
  owner?: "root";
  /** Its group: of a part, or root's. @default the part's own */
  readers?: Peer;
  mode: number;
};

/** What a restore leaves of what is here, at home: on the host that the backup was taken of. */
export type OnRestore =
  /** On every host: it is no state of the appliance. */
  | "stays"
  | "stays-at-home"
  /** It stays at home, and on another host none of the backup's comes in. */
  | "home-alone";

/** @property folders where they are not one of the part's name, closed to all others */
export type DataDeclaration = {
  /** `apart`: by a way of its own, which the backup knows. */
  isBackedUp: boolean | "apart";
  /** @default what is in no backup stays at home, all else is replaced */
  onRestore?: OnRestore;
  /** Names of files there whose content nobody may be told. */
  hides?: RegExp;
  folders?: readonly FolderDeclaration[];
};

/** When the kernel ends it where memory is short. Without those that go last nobody's work goes on. */
export type InShortage = "last" | "middle" | "first";

/** What runs under the part's user before it. @property unless a file that makes it needless */
export type FirstRun = { args: readonly string[]; unless?: string };

type Common = {
  /** Of its process, log, secrets, data and sockets, and in `appliance status`. */
  name: string;
  /** Parts that must be healthy before its first start. */
  after: readonly string[];
  /** The one that it listens on: of the appliance's address, or of 127.0.0.1 as `localhost`. */
  port?: { of: keyof ApplianceConfig["ports"]; on: "perimeter" | "loopback" };
  sockets: Readonly<Record<string, SocketDeclaration>>;
  /** Of `<root>/etc/secrets`, where earlier releases named it otherwise. @default the part's name */
  secretsFolder?: string;
  /** It makes its secrets itself, and not even root's processes write there. @default root makes them, the part reads */
  keepsSecrets?: true;
  secrets?: readonly SecretDeclaration[];
  certificates: readonly CertificateDeclaration[];
  certificateChange?: CertificateChange;
  health: HealthDeclaration;
  settings: readonly SettingDeclaration[];
  /** What of `etc/appliance.json` its configuration is derived from, and an operator may change. */
  choices?: readonly Choice[];
  settled?: readonly SettledDeclaration[];
  /** Its folder `<root>/data/<name>`: its own, closed to all others, worked on by one process at a time. Null: it keeps nothing. */
  data: DataDeclaration | null;
  /** Bytes that it takes of the disk within its first weeks: preflight and plan count them. */
  firstBytes: number;
  facts?: FactsDeclaration;
  /** What an operator must know of it, by theme. That it runs and answers is told of every part. */
  findings?: FindingsDeclaration;
  /** It writes into the audit log, by sockets of auditd that have these names. */
  audit?: readonly { producer: string; family: string }[];
  start?: {
    /** To its first health. @default 60000 */
    timeoutMs?: number;
    /** Each to its end before each start, in this order; one that fails keeps the part from starting. */
    after?: (facts: PartFacts) => readonly FirstRun[];
  };
  /** So long it may run without an answer. @default 60000 */
  silenceLimitMs?: number;
  stop: {
    /** From SIGTERM to SIGKILL. */
    graceMs: number;
    /** By which it is asked to. @default SIGTERM */
    signal?: "SIGTERM" | "SIGINT";
    /** The next one starts beside it, and it ends at this signal once that one runs and it has no more calls: nobody finds its port closed. */
    drain?: NodeJS.Signals;
  };
  /** What else of the release it loads or hands on; a path that ends in `/` is all below it. */
  loads?: readonly string[];
  env?: (facts: PartFacts) => Record<string, string>;
};

/** It runs as uid and gid `uidBase + user`. Never changed: files of installed appliances belong to it. */
type OfUser = Common & { user: number };

/** Of a process of the host. */
type Process = OfUser & { inShortage: InShortage };

/** A program of ours in the frame: `runPart`. */
export type OwnPart<Config extends TSchema = TSchema> = Process & {
  /** Below `app/` of the release. */
  program: string;
  /** What Node is told beside it. */
  nodeFlags?: readonly string[];
  config: { schema: Config; from: (facts: PartFacts) => Static<Config> };
};

/** A program of ours with a frame of its own: it reads `etc/<name>.json`, which holds this alone. */
export type FramelessPart<Config extends TSchema = TSchema> = Process & {
  program: string;
  nodeFlags?: readonly string[];
  ownConfig: { schema: Config; from: (facts: PartFacts) => Static<Config> };
};

/** A program of others. */
export type EnginePart = Process & {
  /** Which the release knows the version of. */
  engine: string;
  /** Below `engines/` of the release. @default the engine's name */
  program?: string;
  args: (facts: PartFacts) => readonly string[];
  /** What it reads: root's, among its secrets. */
  files: readonly { name: string; text: (facts: PartFacts) => string }[];
};

/** A program of others in a container of the release's images, on the host's network. */
export type ContainerPart = OfUser & {
  /** Its repository. The release knows the version of the program by the part's name. */
  image: string;
  container: (facts: PartFacts) => {
    env: Record<string, string>;
    entrypoint?: readonly string[];
    args: readonly string[];
    /** `host:container[:ro]` */
    binds: readonly string[];
    tmpfs: readonly string[];
    memoryBytes: number;
  };
};

/** Who tells whether a part of a host is well. */
export type HostHealth =
  /** `GET path`. */
  | { socket: string; path: string }
  /** It ends its side of a connection to each of these sockets once the other side is ended, and has come so far that a file is there. */
  | { endsConnections: readonly string[]; file: (layout: Layout) => string }
  /** It has noted within so many milliseconds that it goes on. @property notedAtMs Unix milliseconds; null: it never did */
  | { notedAtMs: (facts: HostFacts) => number | null; withinMs: number };

/** What only a part with a user of its own declares. */
type NeedsUser = "certificateChange" | "choices" | "port" | "secrets" | "settled" | "start";

/** A program that needs the host and runs as root, derived from what hosts of either kind have in common. */
export type HostPart<Config extends TSchema = TSchema> = Omit<
  Common,
  "env" | "health" | NeedsUser
> & {
  [name in NeedsUser]?: never;
} & {
  user: "root";
  /** On which kinds of hosts it is. */
  hosts: readonly HostKind[];
  /** Whether it is on this host. @default on each of these kinds */
  isOn?: (host: JobHost) => boolean;
  /** Asked ten times a second: while false it does not run, and nobody is told of it. @default always */
  isWanted?: (facts: HostFacts) => boolean;
  command: (facts: HostFacts) => { program: string; args: readonly string[] };
  /** Its PATH has the host's programs that the release brings first, where the install chose them. */
  runsHostTools?: true;
  env?: (facts: HostFacts) => Record<string, string>;
  /** Where it runs; what it leaves beside itself lies there. @default the root */
  workingFolder?: (layout: Layout) => string;
  /** What it reads, `etc/<name>.json`: root's alone. */
  hostConfig?: { schema: Config; from: (facts: HostFacts) => Static<Config> };
  /** Before each start, as root. */
  prepare?: (facts: HostFacts) => void;
  /** @default the release's */
  version?: (facts: HostFacts) => string;
  health: HostHealth;
  inShortage: InShortage;
};

export type PartDeclaration = OwnPart | FramelessPart | EnginePart | ContainerPart | HostPart;

/** @throws TypeError for what contradicts itself */
export function definePart<Config extends TSchema>(part: OwnPart<Config>): OwnPart<Config> {
  requireSound(part);
  return part;
}

/** @throws TypeError for what contradicts itself */
export function defineFrameless<Config extends TSchema>(
  part: FramelessPart<Config>,
): FramelessPart<Config> {
  requireSound(part);
  return part;
}

/** @throws TypeError for what contradicts itself */
export function defineEngine(part: EnginePart): EnginePart {
  requireSound(part);
  return part;
}

/** @throws TypeError for what contradicts itself */
export function defineContainer(part: ContainerPart): ContainerPart {
  requireSound(part);
  return part;
}

/** @throws TypeError for what contradicts itself */
export function defineHostPart<Config extends TSchema>(part: HostPart<Config>): HostPart<Config> {
  requireSound(part);
  return part;
}

function requireSound(
  part: Omit<Common, "health"> & { health: HealthDeclaration | HostHealth },
): void {
  const { health } = part;
  for (const socket of [
    ...("socket" in health ? [health.socket] : []),
    ...("endsConnections" in health ? health.endsConnections : []),
    ...(part.facts === undefined ? [] : [part.facts.socket]),
  ])
    if (part.sockets[socket] === undefined)
      throw new TypeError(`${part.name} has no socket named ${socket}`);
  if (("httpsPath" in health || "greeting" in health) && part.port === undefined)
    throw new TypeError(`${part.name} has no port that tells whether it is well`);
  if (Object.values(part.sockets).filter((socket) => "isHeld" in socket).length > 1)
    throw new TypeError(`${part.name} has more sockets to be held than one`);
  if (part.facts !== undefined && !served(part, part.facts.socket).includes(part.facts.operation))
    throw new TypeError(
      `${part.name} does not serve ${part.facts.operation.name} to the supervisor`,
    );
}

function served(part: Pick<Common, "sockets">, socket: string): readonly Operation[] {
  return operationsOf(part)[socket] ?? [];
}

/** Lists the operations of each socket that serves any. */
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

/** Folders of secrets that no process but their parts' own reads. */
export function closedSecretsFolders(
  parts: readonly Pick<PartDeclaration, "name" | "secretsFolder" | "keepsSecrets">[],
): string[] {
  return parts
    .filter(({ keepsSecrets }) => keepsSecrets === true)
    .map(({ name, secretsFolder = name }) => secretsFolder);
}

/** Answers where one of a part's sockets lies. */
export function socketOf(
  { name, sockets }: Pick<PartDeclaration, "name" | "sockets">,
  layout: Layout,
  socket: string,
): string {
  const declared = sockets[socket];
  if (declared === undefined) throw new TypeError(`${name} has no socket named ${socket}`);
  return layout.run(...("at" in declared && declared.at ? declared.at : [name, socket, "sock"]));
}

/** Its folders below `data`. */
export function dataFoldersOf({
  name,
  data,
}: Pick<PartDeclaration, "name" | "data">): readonly FolderDeclaration[] {
  return data === null ? [] : (data.folders ?? [{ name, mode: 0o700 }]);
}

/** uid and gid of its processes; root's are 0. */
export function userOf(
  { uidBase }: Pick<ApplianceConfig, "uidBase">,
  { user }: Pick<PartDeclaration, "user">,
): number {
  return user === "root" ? 0 : uidBase + user;
}
