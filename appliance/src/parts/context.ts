import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { type PartDeclaration, userOf } from "@resontech/frame/define-part";
import type { Layout } from "@resontech/frame/layout";
import { partNamed } from "@resontech/frame/part-facts";

/** A release on a host, of either kind: an appliance's or a node's. */
export type ReleaseContext = {
  layout: Layout;
  release: ReleaseManifest;
  config: Pick<ApplianceConfig, "hostTools">;
};
/** What every part's definition is made from. */
export type PartContext = ReleaseContext & {
  config: ApplianceConfig;
  /** All of this release. */
  parts: readonly PartDeclaration[];
};

/** uid and gid of the processes of a part. @throws TypeError for one that is not declared */
export function userOfPart(
  { config, parts }: { config: Pick<ApplianceConfig, "uidBase">; parts: PartContext["parts"] },
  name: string,
): number {
  return userOf(config, partNamed(parts, name));
}

/** `<name>:<port>/<repository>@<digest>` of one of the release's images, as the local registry serves it. */
export function imageReference({ config, release }: PartContext, repository: string): string {
  const image = release.images.find((candidate) => candidate.repository === repository);
  if (image === undefined) throw new Error(`the release has no image ${repository}`);
  return `${config.name}:${config.ports.registry}/${image.repository}@${image.digest}`;
}

/** Version of an engine of the release, for `appliance status`: upstream's, without a distribution's revision. */
export function engineVersion({ release }: PartContext, engine: string): string {
  return release.engines[engine]?.version.replace(/^v/, "").replace(/-.*$/, "") ?? release.version;
}
