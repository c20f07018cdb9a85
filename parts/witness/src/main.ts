/** `witness`: countersigns checkpoints of audit logs on a host that is not the appliance. One file, any Node from 20. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { removeLeftovers } from "@resontech/frame/durable-file";
import { tryInstanceLock } from "@resontech/frame/instance-lock";
import { type NoteSigner, verifierKey } from "@resontech/audit/format/note/note-key";
import { admitFirst, admitNext } from "./admit.ts";
import { admitAfterRestore } from "./admit-after-restore.ts";
import { hasMlDsa44, loadCosigner, makeCosigner, policyLines } from "./cosigner.ts";
import { WitnessError } from "./errors.ts";
import { LogStates } from "./log-states.ts";
import { witnessServer } from "./server.ts";
import { Witness } from "./witness.ts";

const USAGE = `usage: witness init  --dir DIR --name NAME        make keys; prints the lines for the policy
       witness admit --dir DIR --first POLICY     at the ceremony: know the logs of a policy
       witness admit --dir DIR FILE.tlog-proof    know the next shard of a known log, by its own word
       witness admit --dir DIR --after-restore POLICY FILE.tlog-proof [--despite-smaller-loss]
                                                  know the shard that follows a restore: its keys from the policy that two people hand over, the
                                                  proof of its first entry, which must admit the loss of all that this witness has seen;
                                                  not while it serves: stop it, admit, start it again
       witness serve --dir DIR --listen HOST:PORT [--tls-cert FILE --tls-key FILE]
       witness show  --dir DIR                    keys, and what was cosigned last; one JSON line
`;
const STOP_TIMEOUT_MS = 5_000;
/** A log may be admitted while a start looks, and no write takes as long. */
const LEFTOVER_AFTER_MS = 60_000;
const OPTIONS = {
  dir: { type: "string" },
  name: { type: "string" },
  first: { type: "string" },
  "after-restore": { type: "string" },
  "despite-smaller-loss": { type: "boolean" },
  listen: { type: "string" },
  "tls-cert": { type: "string" },
  "tls-key": { type: "string" },
  help: { type: "boolean" },
} as const;

type Flag = "help" | "despite-smaller-loss";
type Values = Partial<Record<Exclude<keyof typeof OPTIONS, Flag>, string>>;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const { help, "despite-smaller-loss": despiteSmallerLoss = false, ...given } = values;
  const [verb, ...files] = positionals;
  if (help === true) return print(USAGE);
  const dir = resolve(need(given.dir));
  process.umask(0o077);
  switch (verb) {
    case "init":
      return init(dir, need(given.name));
    case "admit":
      return admit(dir, given, files, despiteSmallerLoss);
    case "serve":
      return serve(dir, need(given.listen), given);
    case "show":
      return show(dir);
    default:
      throw new WitnessError("usage", USAGE);
  }
}

async function init(dir: string, name: string): Promise<void> {
  const signers = await makeCosigner(dir, name);
  await new LogStates(dir).makeFolder();
  print(`${policyLines(signers).join("\n")}\n`);
}

async function admit(
  dir: string,
  given: Values,
  files: readonly string[],
  despiteSmallerLoss: boolean,
): Promise<void> {
  const { first, "after-restore": restorePolicy } = given;
  const signers = await loadCosigner(dir);
  const states = new LogStates(dir);
  const isUsable =
    first === undefined ? files.length === 1 : files.length === 0 && restorePolicy === undefined;
  if (!isUsable || (despiteSmallerLoss && restorePolicy === undefined))
    throw new WitnessError("usage", USAGE);
  if (first !== undefined)
    return print(`${JSON.stringify({ admitted: await admitFirst(states, first) })}\n`);
  if (restorePolicy === undefined)
    return print(
      `${JSON.stringify({ admitted: [await admitNext(states, signers, need(files[0]))] })}\n`,
    );
  const [policyFile, proofFile] = [resolve(restorePolicy), resolve(need(files[0]))];
  await lockWitness(dir);
  const { origin, ...loss } = await admitAfterRestore(
    states,
    policyFile,
    proofFile,
    despiteSmallerLoss,
  );
  print(`${JSON.stringify({ admitted: [origin], ...loss })}\n`);
}

async function show(dir: string): Promise<void> {
  const keys = (await loadCosigner(dir)).map(verifierKey);
  const logs = (await new LogStates(dir).all()).map(
    ({ origin, size, root, timeS, followedBy }) => ({
      origin,
      size,
      root: root?.toString("hex") ?? null,
      ...(followedBy === null ? {} : { followedBy }),
      cosignedAt: timeS === 0 ? null : new Date(timeS * 1_000).toISOString(),
    }),
  );
  print(`${JSON.stringify({ keys, mlDsa44: hasMlDsa44, logs })}\n`);
}

async function serve(dir: string, listen: string, files: Values): Promise<void> {
  const { host, port } = parseListen(listen);
  const tls = await readTls(files);
  const signers: readonly NoteSigner[] = await loadCosigner(dir);
  await lockWitness(dir);
  for (const folder of [dir, join(dir, "logs")])
    await removeLeftovers(folder, { olderThanMs: LEFTOVER_AFTER_MS });
  const witness = await Witness.open(new LogStates(dir), signers);
  const server = witnessServer(witness, tls, (line) =>
    print(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`),
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => stop(server));
  // Last: who reads this may send SIGTERM at once.
  print(
    `${JSON.stringify({ at: new Date().toISOString(), listening: server.address(), keys: signers.map(verifierKey) })}\n`,
  );
}

/** Locks the witness until the process ends, with all that it has under way. Two would look at the same state, and each go on from it on its own. */
async function lockWitness(dir: string): Promise<void> {
  process.chdir(dir);
  if ((await tryInstanceLock(".")) === null)
    throw new WitnessError(
      "already_serving",
      "another process serves this witness: stop it first, and start it again afterwards",
    );
}

/** What was asked is answered; a client that does not listen is not waited for. */
function stop(server: ReturnType<typeof witnessServer>): void {
  server.close();
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), STOP_TIMEOUT_MS).unref();
}

function parseListen(listen: string): { host: string; port: number } {
  const [, host = "", port = ""] = /^\[?([^[\]]+?)\]?:([0-9]{1,5})$/.exec(listen) ?? [];
  if (host === "" || Number(port) > 65_535) throw new WitnessError("usage", USAGE);
  return { host, port: Number(port) };
}

async function readTls(files: Values): Promise<{ cert: Buffer; key: Buffer } | null> {
  const { "tls-cert": cert, "tls-key": key } = files;
  if (cert === undefined && key === undefined) return null;
  return { cert: await readFile(need(cert)), key: await readFile(need(key)) };
}

/** @throws WitnessError when it was not given */
function need(value: string | undefined): string {
  if (value === undefined) throw new WitnessError("usage", USAGE);
  return value;
}

function print(text: string): void {
  process.stdout.write(text);
}

main().catch((error: unknown) => {
  const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
  const isUsage = code === "usage" || code.startsWith("ERR_PARSE_ARGS");
  process.stderr.write(
    isUsage
      ? USAGE
      : `witness: ${code}: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = isUsage ? 2 : 1;
});
