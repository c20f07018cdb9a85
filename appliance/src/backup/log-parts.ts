/** The audit log in a backup: each shard as its export, which the offline verifier reads, and the few files that say which shard is which. Never a key. */
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { exportLog } from "@resontech/audit/export";
import { BackupError } from "@resontech/backup/backup-error";
import { folderPart } from "@resontech/backup/folder-part";
import type { Part } from "@resontech/backup/parts";
import { readOnce } from "@resontech/backup/read-once";

const SHARD = /^[0-9]{4}(?:-[1-9][0-9]{0,3})?$/;
const WITNESSED = /^[0-9]{4}(?:-[1-9][0-9]{0,3})?\/checkpoint\.witnessed$/;
const OF_THE_LOG = new Set(["current", "audit.policy"]);

/**
 * @param auditDir that auditd goes on writing
 * @param path of that folder below the root
 * @param workDir where an export lies until it is read; root's own
 */
export async function logParts(auditDir: string, path: string, workDir: string): Promise<Part[]> {
  const slugs = (await readdir(auditDir)).filter(
    // One that is just being made has no checkpoint yet.
    (name) => SHARD.test(name) && existsSync(join(auditDir, name, "checkpoint")),
  );
  // What was witnessed first: an export that is made afterwards holds it.
  const files = folderPart({ name: "log", path, folder: auditDir }, (name) => !belongs(name));
  return [files, ...slugs.sort().map((slug) => shardPart(auditDir, path, slug, workDir))];
}

function belongs(name: string): boolean {
  return SHARD.test(name) || WITNESSED.test(name) || OF_THE_LOG.has(name);
}

function shardPart(auditDir: string, path: string, slug: string, workDir: string): Part {
  const file = join(workDir, `log-${slug}.tar`);
  return {
    ...{ name: `log-${slug}`, kind: "archive", path: `${path}/${slug}` },
    open: async () => {
      try {
        await exportLog({ logDir: join(auditDir, slug), file });
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new BackupError("backup_source", `the log ${slug} can't be copied: ${why}`, {
          cause,
        });
      }
      return { bytes: readOnce(file) };
    },
  };
}
