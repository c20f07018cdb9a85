/** What `appliance node add` hands over: one command to paste on the new host, or a folder to carry there. */
import { hash } from "node:crypto";
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { lookup } from "node:dns/promises";
import { join } from "node:path";
import {
  JOIN_SCRIPT,
  NODE_BLOBS,
  nodeFiles,
  ROOT_CERTIFICATE,
  SIGNED_FILES,
  SIGNED_FOLDER,
} from "@resontech/contracts/node-files";
import { type JoinFacts, scriptForMedium } from "@resontech/contracts/join-command";
import type { PartContext } from "../parts/context.ts";

/** No host can join this appliance under this name; `message` says why. */
export class NodeNotAddedError extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

/** @throws NodeNotAddedError */
export async function joinFacts(context: PartContext, node: string): Promise<JoinFacts> {
  const { config, layout, release } = context;
  if (config.agent?.node === node)
    throw new NodeNotAddedError(
      "node_is_home",
      `${node} is this very host`,
      "choose another name for the new host",
    );
  await requireReachable(config.name, config.address);
  const script = release.tree.find(({ path }) => path === JOIN_SCRIPT);
  const key = layout.release(SIGNED_FOLDER, "release-key.pem");
  if (script === undefined || !existsSync(key))
    throw new NodeNotAddedError(
      "release_without_nodes",
      `release ${release.version} was installed without what a new node verifies it by`,
      "install a release that has it, then run this again",
    );
  const { api, s3, registry, nats } = config.ports;
  return {
    ...{ node, appliance: config.name, ports: { api, s3, registry, nats } },
    rootSha256: hash("sha256", readFileSync(layout.trustCert)),
    keySha256: hash("sha256", readFileSync(key)),
    scriptSha256: script.sha256,
  };
}

/** One that listens on loopback alone is no other host's appliance. */
async function requireReachable(name: string, address: string): Promise<void> {
  const isLocal = (ip: string): boolean => ip.startsWith("127.") || ip === "::1";
  const answers = await lookup(name, { all: true }).catch(() => []);
  if (
    isLocal(address) ||
    (answers.length > 0 && answers.every((answer) => isLocal(answer.address)))
  )
    throw new NodeNotAddedError(
      "appliance_on_loopback",
      `this appliance is ${name} at ${address}, which no other host reaches`,
      "install it with --name and --address of this host's network",
    );
}

/**
 * Writes a folder with everything that the new host needs but the token.
 *
 * @param out is made, or is empty: root follows no link that somebody else has laid there
 * @returns SHA-256 of the script in it, which stands for the whole folder
 * @throws NodeNotAddedError
 */
export function writeNodeFolder(
  { layout, release }: PartContext,
  facts: JoinFacts,
  out: string,
): string {
  const copy = (from: string, name: string): void =>
    copyFileSync(from, join(out, name), constants.COPYFILE_EXCL);
  try {
    mkdirSync(out, { recursive: true, mode: 0o755 });
    if (readdirSync(out).length > 0) throw new Error("it is not empty");
    mkdirSync(join(out, NODE_BLOBS), { recursive: true, mode: 0o755 });
    for (const { path, sha256 } of nodeFiles(release.tree))
      if (!existsSync(join(out, NODE_BLOBS, sha256)))
        copy(layout.release(path), join(NODE_BLOBS, sha256));
    for (const name of SIGNED_FILES) copy(layout.release(SIGNED_FOLDER, name), name);
    copy(layout.trustCert, ROOT_CERTIFICATE);
    const script = scriptForMedium(readFileSync(layout.release(JOIN_SCRIPT), "utf8"), facts);
    writeFileSync(join(out, "join-node.sh"), script, { mode: 0o755, flag: "wx" });
    return hash("sha256", script);
  } catch (cause) {
    throw new NodeNotAddedError(
      "out_not_written",
      `${out}: ${cause instanceof Error ? cause.message : String(cause)}`,
      "name a new or empty folder on a medium with 200 MB of room",
    );
  }
}
