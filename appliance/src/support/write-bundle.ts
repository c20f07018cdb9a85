import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { END_OF_ARCHIVE, ustarMember } from "@resontech/audit/export/ustar";
import type { BundleFile, GatheredBundle } from "./gather-bundle.ts";

export type BundleFacts = {
  /** RFC 3339. */
  madeAt: string;
  version: string;
  instance: string;
  /** The audit log has it. */
  isRecorded: boolean;
};
export type WrittenBundle = { file: string; bytes: number; sha256: string; files: number };

/** Whatever stands there stays. */
export class BundleFileError extends Error {
  readonly code: "file_exists" | "file_not_writable";
  readonly hint = "name another file, in a folder that is there";

  constructor(code: BundleFileError["code"], message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** Writes `file` anew, 0600: a README, a manifest with the SHA-256 of each file, and the files. @throws BundleFileError */
export function writeBundle(
  file: string,
  bundle: GatheredBundle,
  facts: BundleFacts,
): WrittenBundle {
  const folder = `resontech-support-${facts.instance}`;
  const readme = Buffer.from(readmeOf(bundle, facts));
  const manifest = Buffer.from(`${JSON.stringify(manifestOf(bundle, facts), null, 2)}\n`);
  const archive = gzipSync(
    Buffer.concat([
      ustarMember(`${folder}/README.txt`, readme),
      ustarMember(`${folder}/manifest.json`, manifest),
      ...bundle.files.map(({ path, bytes }) => ustarMember(`${folder}/${path}`, bytes)),
      END_OF_ARCHIVE,
    ]),
  );
  writeNew(file, archive);
  return {
    ...{ file, bytes: archive.length, files: bundle.files.length },
    sha256: createHash("sha256").update(archive).digest("hex"),
  };
}

function writeNew(file: string, bytes: Buffer): void {
  const fd = opened(file);
  try {
    writeFileSync(fd, bytes);
    fsyncSync(fd);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

function opened(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST")
      throw new BundleFileError("file_exists", `${file} is there already`, error);
    throw new BundleFileError("file_not_writable", `${file} can't be made`, error);
  }
}

function manifestOf(
  { files, redacted, peopleAreKnown }: GatheredBundle,
  facts: BundleFacts,
): unknown {
  return {
    formatVersion: 1,
    ...facts,
    peopleAreKnown,
    redacted,
    files: files.map(({ path, what, bytes, linesLeftOut }: BundleFile) => ({
      ...{ path, what, bytes: bytes.length, linesLeftOut },
      sha256: createHash("sha256").update(bytes).digest("hex"),
    })),
  };
}

function readmeOf({ redacted, peopleAreKnown }: GatheredBundle, facts: BundleFacts): string {
  const counts = Object.entries(redacted).map(([kind, count]) => `  ${kind.padEnd(8)} ${count}`);
  return `Support bundle of the ResonTech appliance ${facts.instance}, release ${facts.version}, made ${facts.madeAt}.

recent-errors.txt  read this first: the newest errors of all parts
status.txt         what \`appliance status\` says
manifest.json      every file with size and SHA-256

Secrets and personal values were taken out. So often something stands in place of a value:
${counts.join("\n")}
A number, as in ⟨person 3⟩, means the same person, address or mailbox throughout this bundle.
${
  peopleAreKnown
    ? ""
    : `The coordinator did not answer, so nobody could say which names are people's.
Logs hold only what programs say by themselves, and lines of engines are left out.
`
}
Not in it: data and logs of jobs, the audit log, databases, keys, anything of the object store.
${facts.isRecorded ? "The audit log has this bundle as admin.support." : "The audit log took no record of this bundle: auditd did not answer."}
Read the files before you hand them on: what nobody could know to be a secret may still stand in a log.
`;
}
