/** What belongs to one shard, by the configuration. */
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { currentSlug, shardFolder } from "@resontech/audit/format/shard/shards";

export type ShardFiles = {
  slug: string;
  origin: string;
  logDir: string;
  keyFiles: { ed25519: string; mlDsa44: string };
};

export function shardFiles(
  { originPrefix, auditDir, keysDir }: AuditdConfig,
  slug: string,
): ShardFiles {
  return {
    slug,
    origin: `${originPrefix}/${slug}`,
    logDir: shardFolder(auditDir, slug),
    keyFiles: {
      ed25519: join(keysDir, `${slug}.ed25519.pem`),
      mlDsa44: join(keysDir, `${slug}.ml-dsa-44.pem`),
    },
  };
}

/** The shard that is written; null before there is a log. @throws LogDamagedError when the pointer is none */
export async function currentShard(config: AuditdConfig): Promise<ShardFiles | null> {
  const slug = await currentSlug(config.auditDir);
  return slug === null ? null : shardFiles(config, slug);
}

/** Family of each producer: its members close each other's operations. */
export function familiesOf({ producers }: AuditdConfig): ReadonlyMap<string, string> {
  return new Map(producers.map(({ name, family }) => [name, family]));
}

export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
