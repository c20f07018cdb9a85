/** The first user's bucket at the S3 door, with that user's own keys. */
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { S3Transport } from "@resontech/coordinator/s3-transport";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ApplianceApi } from "@resontech/house/appliance-api";

const IDLE_MS = 10_000;

export class FirstBucket implements Disposable {
  readonly name: string;
  readonly s3: S3Transport;
  readonly ca: string;

  private constructor(name: string, s3: S3Transport, ca: string) {
    this.name = name;
    this.s3 = s3;
    this.ca = ca;
  }

  static async open(appliance: LocalAppliance, api: ApplianceApi): Promise<FirstBucket> {
    const quickstart = appliance.quickstart();
    const { endpoint, region, bucketAlias } = (await api.call("GET", "/api/users/storage/bucket"))
      .body as Record<string, string>;
    const ca = readFileSync(quickstart["SSL_CERT_FILE"] ?? "", "utf8");
    const credentials = {
      accessKeyId: quickstart["RESON_S3_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: quickstart["RESON_S3_SECRET_ACCESS_KEY"] ?? "",
    };
    const s3 = new S3Transport({
      endpoint: endpoint ?? "",
      region: region ?? "",
      ca,
      credentials,
      idleMs: IDLE_MS,
    });
    return new FirstBucket(bucketAlias ?? "", s3, ca);
  }

  /**
   * What holds an object's bytes goes there by a URL that somebody signed. @returns the status, and the tag of what was stored
   */
  async put(url: string, body: string): Promise<{ status: number; etag: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; etag: string }>();
    const headers = { "content-length": Buffer.byteLength(body) };
    const sent = request(
      url,
      { method: "PUT", ca: this.ca, headers, timeout: IDLE_MS, agent: false },
      (answer) => {
        answer.resume().on("error", reject);
        answer.on("end", () =>
          resolve({ status: answer.statusCode ?? 0, etag: answer.headers.etag ?? "" }),
        );
      },
    );
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error(`a PUT took longer than ${IDLE_MS / 1000} s`)));
    sent.end(body);
    return await promise;
  }

  [Symbol.dispose](): void {
    this.s3[Symbol.dispose]();
  }
}
