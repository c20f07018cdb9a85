import { readFileSync } from "node:fs";
import { request } from "node:https";
import { RegistryTokenReply } from "@resontech/contracts/http-identity";
import { findUnserved } from "@resontech/registry/find-unserved";
import { Value } from "typebox/value";
import { coordinatorAt } from "../first-boot/ask-coordinator.ts";
import type { PartContext } from "../parts/context.ts";

/** Whether the registry serves the release could not be found out. */
export class RegistryNotAskedError extends Error {
  readonly code = "registry_not_asked";
  readonly hint =
    "look at the ends of log/registry.log and log/coordinator.log; `appliance status` says what runs";
}

const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 64 * 1024;

/**
 * Asks the running registry for every image of the release the way a container engine does: login, token, manifest, blobs.
 *
 * @returns `unserved`: a sentence for each thing that is missing or another than the release says
 * @throws RegistryNotAskedError
 */
export async function checkImages(
  context: PartContext,
): Promise<{ images: number; unserved: string[] }> {
  const { config, layout, release } = context;
  const ca = readFileSync(layout.trustCert, "utf8");
  const url = `https://${config.name}:${config.ports.registry}`;
  try {
    const unserved = await findUnserved(release, {
      url,
      ca,
      tokenFor: (repository) => pullToken(context, repository, ca),
    });
    return { images: release.images.length, unserved };
  } catch (error) {
    throw new RegistryNotAskedError(
      `${url}: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

async function pullToken(
  { config, layout }: PartContext,
  repository: string,
  ca: string,
): Promise<string> {
  const login = await coordinatorAt(layout.run("coordinator", "control"))("registry-login", {
    repository,
  });
  const realm = new URL("/token", `https://${config.name}:${config.ports.api}`);
  realm.searchParams.set("scope", `repository:${repository}:pull`);
  const { status, body } = await get(realm, ca, `${login.username}:${login.password}`);
  const reply: unknown = status === 200 ? JSON.parse(body) : null;
  if (!Value.Check(RegistryTokenReply, reply))
    throw new Error(`${realm.href} answers ${status} and no token`);
  return reply.token;
}

async function get(url: URL, ca: string, auth: string): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { ca, auth, signal: AbortSignal.timeout(TIMEOUT_MS) },
      (incoming) => {
        let body = "";
        incoming.setEncoding("utf8").on("data", (text: string) => {
          body += text;
          if (body.length > MAX_REPLY_BYTES)
            incoming.destroy(new Error(`${url.href} answers more than ${MAX_REPLY_BYTES} bytes`));
        });
        incoming.once("error", reject);
        incoming.once("end", () => resolve({ status: incoming.statusCode ?? 0, body }));
      },
    );
    outgoing.once("error", reject);
    outgoing.end();
  });
}
