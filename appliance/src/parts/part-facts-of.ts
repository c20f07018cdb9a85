/** What declarations of parts read of this host. */
import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, statfsSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { HostFacts, HostReader, PartFacts } from "@resontech/frame/define-part";
import { openFilesLimit } from "@resontech/frame/open-files-limit";
import { partFacts } from "@resontech/frame/part-facts";
import type { JobHost } from "@resontech/frame/job-host";
import type { PartContext, ReleaseContext } from "./context.ts";
import { jobHostOf } from "./job-host-of.ts";

const HOST: HostReader = {
  read: (file) => (existsSync(file) ? readFileSync(file, "utf8") : null),
  has: existsSync,
  realPath: (path) => realpathSync(path),
  names: (folder) => readdirSync(folder).toSorted(),
  certificateSha256: (file) =>
    new X509Certificate(readFileSync(file)).fingerprint256.replaceAll(":", "").toLowerCase(),
  room: (folder) => {
    const { blocks, bavail, bsize } = statfsSync(folder);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
  },
  sizeOf: (folder) =>
    existsSync(folder)
      ? readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
      : 0,
  limits: () => ({ processors: availableParallelism(), openFiles: openFilesLimit() }),
  now: () => new Date(),
};

/** Collects the facts of this appliance on this host. */
export function partFactsOf(context: PartContext): PartFacts {
  const { layout, config, release, parts } = context;
  return partFacts({ layout, appliance: config, release, parts, host: jobHostOf(context) }, HOST);
}

/** Collects the facts of a release on a host of either kind. */
export function hostFactsOf({ layout, release }: ReleaseContext, host: JobHost): HostFacts {
  return { layout, release, host, ...HOST };
}
