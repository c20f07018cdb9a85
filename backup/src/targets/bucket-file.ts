/** Which bucket backups go to, and with which key pair: a file that root alone may read. */
import { open } from "node:fs/promises";
import { constants } from "node:fs";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { BackupError } from "../backup-error.ts";

const MAX_BYTES = 65_536;

const BucketSettings = Type.Object(
  {
    /** Scheme, name and port. */
    endpoint: Type.String({ pattern: "^https://[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$" }),
    region: Type.String({ pattern: "^[a-z0-9-]{1,64}$" }),
    bucket: Type.String({ pattern: "^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$" }),
    /** What the names of all objects begin with. */
    prefix: Type.Optional(Type.String({ pattern: "^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,63}/){0,8}$" })),
    accessKeyId: Type.String({ minLength: 1, maxLength: 128 }),
    secretAccessKey: Type.String({ minLength: 1, maxLength: 256 }),
    /** PEM of who vouches for the endpoint, where that is none of the public authorities. */
    ca: Type.Optional(Type.String({ maxLength: MAX_BYTES })),
  },
  { additionalProperties: false },
);
export type BucketSettings = Static<typeof BucketSettings>;
const form = Compile(BucketSettings);

/** @throws BackupError `backup_target` where others may read it, or it is none */
export async function readBucketFile(file: string): Promise<BucketSettings> {
  const handle = await open(file, constants.O_RDONLY);
  try {
    const { mode, uid, size } = await handle.stat();
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.())
      throw new BackupError("backup_target", `${file} can be read by others: chmod 600 ${file}`);
    const settings = size > MAX_BYTES ? null : parsed(await handle.readFile("utf8"));
    if (form.Check(settings)) return settings;
    const [first] = form.Errors(settings);
    throw new BackupError(
      "backup_target",
      `${file} describes no bucket: ${first?.instancePath || "/"} ${first?.message ?? "is wrong"}`,
    );
  } finally {
    await handle.close();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
