/** The closed-world check of a running registry: every image of the release, and everything it refers to, is served by digest. */
import { createHash } from "node:crypto";
import { request } from "node:https";
import type { ReleaseImage, ReleaseManifest } from "@resontech/contracts/release-manifest";

export type RegistryAccess = {
  /** `https://<name>:<port>` */
  url: string;
  /** PEM of the CA that signed the registry's certificate. */
  ca: string;
  /** A bearer token for pulling from the repository. */
  tokenFor: (repository: string) => Promise<string>;
};

const TIMEOUT_MS = 10_000;

type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; body: Buffer };

/** A sentence for each manifest, tag or blob of the release that the registry does not serve as the release describes it. */
export async function findUnserved(
  release: ReleaseManifest,
  registry: RegistryAccess,
): Promise<string[]> {
  const problems: string[] = [];
  for (const image of release.images) {
    const token = await registry.tokenFor(image.repository);
    const ask = async (method: "GET" | "HEAD", path: string): Promise<Answer> =>
      await send(registry, method, `/v2/${image.repository}/${path}`, token, image);
    const name = `${image.repository}@${image.digest}`;

    const manifest = await ask("GET", `manifests/${image.digest}`);
    const digest = `sha256:${createHash("sha256").update(manifest.body).digest("hex")}`;
    if (manifest.status !== 200)
      problems.push(`${name}: the registry answers ${manifest.status} for its manifest`);
    else if (digest !== image.digest)
      problems.push(`${name}: the registry serves another manifest, ${digest}`);

    const tag = await ask("HEAD", `manifests/${release.version}`);
    if (tag.headers["docker-content-digest"] !== image.digest)
      problems.push(
        `${image.repository}:${release.version} is not ${image.digest} but ${tag.status}`,
      );

    for (const { sha256, sizeBytes } of image.blobs) {
      if (`sha256:${sha256}` === image.digest) continue;
      const blob = await ask("HEAD", `blobs/sha256:${sha256}`);
      if (blob.status !== 200)
        problems.push(`${name}: the registry answers ${blob.status} for its blob ${sha256}`);
      else if (Number(blob.headers["content-length"]) !== sizeBytes)
        problems.push(
          `${name}: its blob ${sha256} has ${String(blob.headers["content-length"])} bytes, not ${sizeBytes}`,
        );
    }
  }
  return problems;
}

async function send(
  registry: RegistryAccess,
  method: string,
  path: string,
  token: string,
  image: ReleaseImage,
): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, registry.url),
      {
        method,
        ca: registry.ca,
        headers: { accept: image.mediaType, authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        incoming.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          // More than the manifest can't be the manifest.
          if (bytes <= image.manifestBytes) chunks.push(chunk);
          else
            incoming.destroy(
              new Error(`${path}: the answer is longer than ${image.manifestBytes} bytes`),
            );
        });
        incoming.once("error", reject);
        incoming.once("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    outgoing.once("error", reject);
    outgoing.end();
  });
}
