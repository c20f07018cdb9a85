import { mkdirSync, readFileSync } from "node:fs";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import type { JoinAnswer } from "@resontech/contracts/agent-protocol";
import { splitTrust } from "@resontech/contracts/door-authorities";
import type { Logger } from "pino";
import { CoordinatorClient } from "../bus/coordinator-client.ts";
import { NodeUnfitError, requireFitNode } from "../probes/require-fit-node.ts";
import { JoinRefusedError } from "./join-door.ts";
import { ensureIdentity, hasIdentity, joinOnce } from "./node-identity.ts";

/** An appliance that does not answer for so long is looked at by whoever waits here. */
const LIMIT_MS = 60_000;

/**
 * Joins, and runs nothing: whoever installs the node is told at once what became of it. Of a node that has joined it is asked whether its
 * certificate is still good.
 */
export async function joinAndEnd(config: AgentConfig, log: Logger): Promise<JoinAnswer> {
  try {
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    if (hasIdentity(config)) {
      await requireAdmitted(config, log);
      return { refused: null };
    }
    requireFitNode(config.dataDir, true);
    await joinOnce(config, log, AbortSignal.timeout(LIMIT_MS));
    return { refused: null };
  } catch (error) {
    if (!(error instanceof JoinRefusedError || error instanceof NodeUnfitError)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}

/** @throws JoinRefusedError `certificate_void`, `certificate_ended` */
async function requireAdmitted(config: AgentConfig, log: Logger): Promise<void> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const { certPem, keyPem, natsUrl } = await ensureIdentity(config, log, limit);
  const ca = splitTrust(readFileSync(config.rootCertFile, "utf8")).root;
  const tls = { ca, cert: certPem, key: keyPem };
  if (!(await CoordinatorClient.isAdmitted(config.node, { servers: natsUrl, tls })))
    throw new JoinRefusedError(
      "certificate_void",
      `the appliance has taken ${config.node} out of its register, or another host joined as it`,
    );
}
