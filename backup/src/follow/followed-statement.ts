/** What the appliance says of each file that follows a database, signed; it is the end of the file's content. */
import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { BackupError } from "../backup-error.ts";
import { openEnvelope, sealEnvelope } from "../manifest/envelope.ts";

const PAYLOAD_TYPE = "application/vnd.resontech.backup-followed+json";
const FORMAT = "resontech-followed/1";
const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Count = Type.Integer({ minimum: 0 });

const FollowedStatement = Type.Object(
  {
    format: Type.Literal(FORMAT),
    /** Version of the release whose database it is. */
    release: Type.String({ maxLength: 128 }),
    stream: Type.String({ maxLength: 64 }),
    kind: Type.Enum(["whole", "changes"]),
    number: Count,
    atMs: Count,
    /** Of what was said of the changes before these; of a whole state, of the changes that it ends with. */
    previous: Sha256,
    pageBytes: Type.Integer({ minimum: 512, maximum: 65_536 }),
    /** Of the database, afterwards. */
    pages: Count,
    /** Of the pages in the file, each after its number. */
    sha256: Sha256,
  },
  { additionalProperties: false },
);
export type FollowedStatement = Static<typeof FollowedStatement>;
const form = Compile(FollowedStatement);
export type Stated = Omit<FollowedStatement, "format">;

/** The bytes to sign and write, and the name by which the next changes call these. */
export function sealStatement(
  stated: Stated,
  signingKeyPem: string,
): { bytes: Buffer; link: string } {
  const payload = Buffer.from(JSON.stringify({ format: FORMAT, ...stated }));
  return { bytes: sealEnvelope(PAYLOAD_TYPE, payload, signingKeyPem), link: linkOf(payload) };
}

/** @param signer who must have signed it @throws BackupError `backup_forged`, `backup_damaged` */
export function openStatement(
  bytes: Buffer,
  signer: string,
  name: string,
): { statement: FollowedStatement; link: string } {
  const payload = openEnvelope(PAYLOAD_TYPE, bytes, signer, name);
  const statement: unknown = JSON.parse(payload.toString("utf8"));
  if (!form.Check(statement))
    throw new BackupError("backup_format", `${name} is not of the format ${FORMAT}`);
  return { statement, link: linkOf(payload) };
}

/** What the first changes of a stream come after. */
export function firstLink(stream: string): string {
  return createHash("sha256").update(stream).digest("hex");
}

function linkOf(payload: Buffer): string {
  return createHash("sha256").update(payload).digest("hex");
}
