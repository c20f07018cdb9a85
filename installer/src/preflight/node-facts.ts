import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { readNodeConfig } from "@resontech/appliance/node-context";
import type { NodeConfig } from "@resontech/contracts/node-config";
import { nodeFiles } from "@resontech/contracts/node-files";
import { demandsOfNode } from "@resontech/contracts/room-account";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { isAppliance, isNode } from "../node-root.ts";
import { readHostFacts } from "./host-facts.ts";
import type { NodeHostFacts } from "./node-checks.ts";

const ASK_MS = 5_000;

/** Looks at the host and at the way to the appliance; changes nothing. */
export async function readNodeHostFacts(
  root: string,
  config: NodeConfig,
  release: ReleaseManifest,
  rootCertPem: string,
): Promise<NodeHostFacts> {
  const { name, ports } = config.appliance;
  const joinedAs = isNode(root) ? readNodeConfig(root) : null;
  const releaseBytes = nodeFiles(release.tree).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const host = await readHostFacts(root, {
    ...{ instance: config.instance, name, address: config.address, listens: [], uids: [] },
    ...{ jobPorts: config.jobPorts, jobUids: config.jobUids, engine: config.containerEngine.kind },
    // What a node that has joined has already taken was free once.
    keyKind: null,
    releaseDemands: joinedAs === null ? demandsOfNode(releaseBytes) : [],
    startDemands: () => [],
  });
  const reached = await Promise.all(
    Object.values(ports).map(async (port) => ({ port, isReached: await isReached(name, port) })),
  );
  const unreached = reached.filter((each) => !each.isReached).map(({ port }) => port);
  return {
    ...host,
    ...{ unreached, joinedAs, isAppliance: isAppliance(root) },
    apiFailure: unreached.includes(ports.api)
      ? null
      : await tlsFailure(name, ports.api, rootCertPem),
  };
}

async function isReached(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ASK_MS });
    const give = (isThere: boolean): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => give(true));
    socket.once("error", () => give(false));
    socket.once("timeout", () => give(false));
  });
}

async function tlsFailure(host: string, port: number, ca: string): Promise<string | null> {
  return await new Promise((resolve) => {
    const socket = connectTls({ host, port, ca, servername: host, timeout: ASK_MS });
    const give = (failure: string | null): void => {
      socket.destroy();
      resolve(failure);
    };
    socket.once("secureConnect", () => give(null));
    socket.once("error", (error) => give(error.message));
    socket.once("timeout", () => give(`no answer within ${ASK_MS / 1000} s`));
  });
}
