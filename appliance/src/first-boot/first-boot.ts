/** What is done once, after the parts are healthy: the local node's token, the first user, its credentials. Each step keeps what is there. */
import { createHash, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { RENEWAL_GRACE_MS } from "@resontech/contracts/agent-protocol";
import { readForeign, ROOT, writeOwned } from "../config/owned-file.ts";
import type { PartContext } from "../parts/context.ts";
import { coordinatorAt } from "./ask-coordinator.ts";
import { renderCredentials } from "./credentials.ts";
import { followNameInCredentials } from "./follow-name.ts";

const JOIN_TOKEN_TTL_S = 3600;
const MAX_POLICY_BYTES = 64 * 1024;

/**
 * Asks for the local agent's join token until it has joined: one that an earlier start left may be used up or too old. And again where its certificate
 * ended too long ago to admit it to the next one: whoever is root here vouches for this host.
 */
export async function ensureJoinToken(
  { config, layout }: PartContext,
  now = Date.now(),
): Promise<void> {
  if (config.agent === null || admitsNode(layout.data("agent", "node.crt"), now)) return;
  const { token } = await coordinatorAt(layout.run("coordinator", "control"))("join-token", {
    node: config.agent.node,
    ttlS: JOIN_TOKEN_TTL_S,
  });
  writeOwned(layout.data("agent", "join-token"), token, ROOT, 0o400);
}

function admitsNode(certificate: string, now: number): boolean {
  if (!existsSync(certificate)) return false;
  const { validTo } = new X509Certificate(readFileSync(certificate));
  return now - Date.parse(validTo) <= RENEWAL_GRACE_MS;
}

/** Whoever runs the appliance is no reader of its data: the administrator is somebody beside the first researcher. */
export function administratorBeside(researcher: string): string {
  return researcher === "administrator" ? "appliance-administrator" : "administrator";
}

/**
 * Makes the first two people and writes `data/credentials.txt` (0600): an administrator with a password alone, and a researcher with project, bucket and
 * keys.
 */
export async function ensureFirstPeople(
  { config, layout }: PartContext,
  username: string,
): Promise<string> {
  const file = layout.data("credentials.txt");
  if (existsSync(file)) {
    followNameInCredentials(file, config);
    return file;
  }
  const ask = coordinatorAt(layout.run("coordinator", "control"));
  const administrator = administratorBeside(username);
  await ask("add-person", { username: administrator, duty: "platform-admin" });
  const user = await ask("add-user", { username });
  const passwordOf = async (name: string) =>
    (await ask("user-password", { username: name })).password;
  const first = {
    ...{ ...user, firstPassword: await passwordOf(username) },
    administrator: { username: administrator, firstPassword: await passwordOf(administrator) },
  };
  writeOwned(file, renderCredentials(config, first, layout.trustCert), ROOT, 0o600);
  return file;
}

/** Puts the auditor's policy where the operator finds it and answers its SHA-256, to be handed over on paper. */
export function publishAuditPolicy({ layout }: PartContext): { file: string; sha256: string } {
  const file = layout.data("audit.policy");
  const policy = readForeign(layout.data("audit", "audit.policy"), MAX_POLICY_BYTES);
  if (!existsSync(file) || !readFileSync(file).equals(policy)) {
    writeOwned(file, policy, ROOT, 0o444);
  }
  return { file, sha256: createHash("sha256").update(policy).digest("hex") };
}
