/**
 * What this appliance gives out to whoever asks, so that a host can become a node: files of the release that runs, which is no secret, and the
 * root certificate. The list is closed and made once: what is asked for is a key of it and never a part of a path.
 */
import { hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JoinFacts } from "@resontech/contracts/join-command";
import {
  JOIN_SCRIPT,
  NODE_FILE_NAMES,
  nodeFiles,
  ROOT_CERTIFICATE,
  SIGNED_FOLDER,
} from "@resontech/contracts/node-files";
import { reader } from "@resontech/contracts/readable";
import { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { GivenFiles } from "./given-files.ts";

const WHAT = "no node needs such a file of this release";
const readManifest = reader(ReleaseManifest);

/** Gives files to new hosts, by name, or by SHA-256 in hex. */
export class NodeFiles extends GivenFiles {
  /** What a new host compares, hex; null where nothing is given out. */
  readonly trust: Pick<JoinFacts, "rootSha256" | "keySha256" | "scriptSha256"> | null;

  private constructor(files: ReadonlyMap<string, string>, trust: NodeFiles["trust"]) {
    super(files, WHAT);
    this.trust = trust;
  }

  /** Nothing is given out. */
  static none(): NodeFiles {
    return new NodeFiles(new Map(), null);
  }

  /** @throws Error when the release has no manifest that can be read */
  static ofRelease(releaseDir: string, rootCertFile: string): NodeFiles {
    const manifest = readManifest(
      JSON.parse(readFileSync(join(releaseDir, "release-manifest.json"), "utf8")),
    );
    if (manifest === null) throw new Error(`${releaseDir} has no manifest that can be read`);
    const names = NODE_FILE_NAMES.map((name): [string, string] => [
      name,
      name === ROOT_CERTIFICATE ? rootCertFile : join(releaseDir, SIGNED_FOLDER, name),
    ]);
    const blobs = nodeFiles(manifest.tree).map(({ sha256, path }): [string, string] => [
      sha256,
      join(releaseDir, path),
    ]);
    const script = manifest.tree.find(({ path }) => path === JOIN_SCRIPT);
    const key = join(releaseDir, SIGNED_FOLDER, "release-key.pem");
    const trust =
      script === undefined || !existsSync(key)
        ? null
        : {
            rootSha256: hash("sha256", readFileSync(rootCertFile)),
            keySha256: hash("sha256", readFileSync(key)),
            scriptSha256: script.sha256,
          };
    return new NodeFiles(new Map([...names, ...blobs]), trust);
  }
}
