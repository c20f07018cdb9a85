/** Exchanges the one-use token for the node's certificate, by the release's own agent: its key is made on this host and never leaves it. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import { JoinAnswer } from "@resontech/contracts/agent-protocol";
import { reader } from "@resontech/contracts/readable";
import { say } from "../say.ts";
import { NodeCommandFailedError, nodeCommand, runRelease } from "./node-command.ts";

const readAnswer = reader(JoinAnswer);

/** Refusals of a certificate that admits to nothing any more. */
const USELESS: ReadonlySet<string> = new Set(["certificate_void", "certificate_ended"]);

export function hasJoined(root: string): boolean {
  return existsSync(certificateOf(root));
}

/**
 * Whether the certificate that this host has is still good. One that is void is removed, and the host joins anew.
 * @throws NodeCommandFailedError
 */
export async function isAdmitted(root: string): Promise<boolean> {
  await nodeCommand(root, ["prepare"]);
  const { refused } = await askAgent(root);
  if (refused === null) return true;
  if (!USELESS.has(refused.code)) throw refusal(refused);
  say(refused.message);
  await nodeCommand(root, ["stop"]);
  rmSync(certificateOf(root));
  return false;
}

/** @throws NodeCommandFailedError */
export async function joinAppliance(root: string, token: string): Promise<void> {
  await nodeCommand(root, ["prepare"]);
  writeOwned(join(root, "data", "agent", "join-token"), `${token}\n`, ROOT, 0o600);
  // Again: the agent's configuration names the token's file while there is one.
  await nodeCommand(root, ["prepare"]);
  const { refused } = await askAgent(root);
  if (refused !== null) throw refusal(refused);
}

function certificateOf(root: string): string {
  return join(root, "data", "agent", "node.crt");
}

async function askAgent(root: string): Promise<JoinAnswer> {
  const config = join(root, "etc", "agent.json");
  const { status, answer } = await runRelease(root, ["agent.mjs", "--config", config, "--join"]);
  const read = readAnswer(parse(answer));
  if (read === null)
    throw new NodeCommandFailedError(
      `the agent could not join; it ended with ${status ?? "a signal"}`,
    );
  return read;
}

function refusal({ code, message }: NonNullable<JoinAnswer["refused"]>): NodeCommandFailedError {
  return new NodeCommandFailedError(`this host was not admitted: ${message}`, {
    code,
    hint: "run `appliance node add NAME` on the appliance, and its command here",
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
