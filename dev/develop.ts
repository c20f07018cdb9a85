/** `npm run dev`: this tree's dashboard and one part of this tree, in front of and inside an appliance that runs. See HELP. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { serveDashboard, type ServeOptions } from "@resontech/dashboard/serve-dashboard";
import { makeCertificate } from "@resontech/house/make-certificate";
import { PartsError } from "@resontech/appliance/planned-stop";
import { openContext } from "@resontech/appliance/supervise";
import { askSupervisor, listParts } from "@resontech/appliance/supervisor-control";
import { developPart } from "./develop/develop-part.ts";
import { NoApplianceError } from "./develop/no-appliance-error.ts";
import {
  type DevelopOptions,
  DevelopOptionsError,
  HELP,
  readDevelopOptions,
} from "./develop/options.ts";
import { reachableRoot, repository } from "@resontech/house/local-appliance";
import { Phases } from "./phases.ts";

type OfThisHost = Extract<DevelopOptions["at"], { kind: "root" }>;
type OfAnotherHost = Extract<DevelopOptions["at"], { kind: "url" }>;

const KEPT = join(repository, ".cache", "dev");
const phases = new Phases("dev", Number(process.env["RT_SETUP_MS"] ?? 0));
const say = (line: string): void => phases.say(line);

async function develop({ at, port }: DevelopOptions): Promise<void> {
  const asked = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => asked.resolve());
  mkdirSync(KEPT, { recursive: true });
  await using stack = new AsyncDisposableStack();
  const look = at.kind === "url" ? await lookAtAnother(at, port) : await lookHere(at, port, stack);
  const pages = await serveDashboard({ ...look, cacheDir: join(KEPT, "vite") });
  stack.defer(pages.close);
  say(`pages      ${pages.url}/dashboard, in front of ${look.appliance.origin}`);
  if (at.kind === "root" && at.part !== null)
    say(`inspector  127.0.0.1:${at.inspect}, for chrome://inspect or an editor`);
  say("end        Ctrl-C");
  await asked.promise;
}

/** An appliance of this host, and its part where one is asked for. */
async function lookHere(
  { root, part, inspect }: OfThisHost,
  port: number,
  stack: AsyncDisposableStack,
): Promise<Omit<ServeOptions, "cacheDir">> {
  const found = root ?? reachableRoot(join(repository, ".appliance"), "/var/lib/resontech-try");
  const context = await openRunning(found);
  const { config, layout } = context;
  if (part !== null) {
    // As the supervisor has it: what a part makes is for its own group at most.
    process.umask(0o027);
    stack.use(await developPart(context, { part, inspect, say }));
  }
  const door = (file: string): string => readFileSync(layout.secrets("door", file), "utf8");
  return {
    appliance: new URL(`https://${config.name}:${config.ports.api}`),
    ca: readFileSync(layout.trustCert, "utf8"),
    // The door's own name and certificate: whoever trusts the appliance's pages trusts these.
    own: {
      name: config.name,
      address: config.address,
      port,
      key: door("server.key"),
      cert: door("server.crt"),
    },
  };
}

/** @throws NoApplianceError */
async function openRunning(root: string) {
  if (!existsSync(join(root, "current", "bin", "appliance")))
    throw new NoApplianceError(
      `no appliance is installed below ${root}`,
      "`npm run try` leaves one; or name another folder by --root",
    );
  const context = openContext(root);
  const reply = await askSupervisor(context.layout.supervisorSocket, listParts, {});
  if (reply === null)
    throw new NoApplianceError(
      `the appliance below ${root} does not run`,
      `${join(root, "current/bin/appliance")} --root ${root} start`,
    );
  return context;
}

async function lookAtAnother(
  { url, caFile }: OfAnotherHost,
  port: number,
): Promise<Omit<ServeOptions, "cacheDir">> {
  await makeCertificate(KEPT);
  const own = (file: string): string => readFileSync(join(KEPT, file), "utf8");
  return {
    appliance: url,
    ca: caFile === null ? null : readFileSync(caFile, "utf8"),
    own: {
      name: "localhost",
      address: "127.0.0.1",
      port,
      key: own("server.key"),
      cert: own("server.crt"),
    },
  };
}

try {
  const options = readDevelopOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(HELP);
  else await develop(options);
} catch (error) {
  if (error instanceof DevelopOptionsError) {
    process.stderr.write(`${error.message}\n\n${HELP}`);
    process.exitCode = 2;
  } else if (error instanceof NoApplianceError || error instanceof PartsError) {
    process.stderr.write(`${error.message}\n  what to do: ${error.hint}\n`);
    process.exitCode = 3;
  } else {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
