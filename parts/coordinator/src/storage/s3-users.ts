/** Key pairs in the S3 engine (versitygw's admin API), over signed HTTP: secrets never stand in a command line. */
import { escapeXml } from "./decisions/s3-xml.ts";
import { type S3Credentials, S3ResponseError, type S3Transport } from "./s3-transport.ts";

export class S3Users {
  readonly #s3: S3Transport;

  constructor(transport: S3Transport) {
    this.#s3 = transport;
  }

  /** A user without rights of its own: a bucket policy lets it in. */
  async create({ accessKeyId, secretAccessKey }: S3Credentials): Promise<void> {
    await this.#s3.send({
      method: "PATCH",
      path: ["create-user"],
      body:
        `<Account><Access>${escapeXml(accessKeyId)}</Access><Secret>${escapeXml(secretAccessKey)}</Secret>` +
        "<Role>user</Role><UserID>0</UserID><GroupID>0</GroupID><ProjectID>0</ProjectID></Account>",
    });
  }

  /** The pair is refused from the next request on, also by the engine's own cache. Safe to repeat. */
  async remove(accessKeyId: string): Promise<void> {
    try {
      await this.#s3.send({
        method: "PATCH",
        path: ["delete-user"],
        query: { access: accessKeyId },
      });
    } catch (error) {
      if (!(error instanceof S3ResponseError && /NoSuchEntity|UserNotFound/.test(error.code)))
        throw error;
    }
  }
}
