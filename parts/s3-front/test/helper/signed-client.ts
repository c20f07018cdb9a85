import { AwsV4Signer } from "aws4fetch";
import type { S3Credentials } from "@resontech/coordinator/s3-transport";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import type { RunningFront } from "./running-front.ts";

export type Ask = {
  /** Method and target: `PUT /bucket/key?tagging`, escaped as it goes over the wire. */
  request: string;
  headers?: Record<string, string>;
  body?: string;
  /** Whether the signature goes into the query. */
  isPresigned?: boolean;
  region?: string;
};
export type Answered = {
  status: number;
  /** S3's; empty without an error document. */
  code: string;
  headers: Headers;
  body: string;
};

/** Requests signed with all their headers, and their answers as they are: errors are answers. */
export function signedClient(
  front: RunningFront,
  keys: S3Credentials,
): (ask: Ask) => Promise<Answered> {
  return async ({ request, headers = {}, body = "", isPresigned = false, region = "garage" }) => {
    const [method = "", target = ""] = request.split(" ");
    const { url, headers: sent } = await new AwsV4Signer({
      ...{ method, url: `${front.endpoint}${target}`, service: "s3", region, ...keys },
      headers: isPresigned ? headers : { "x-amz-content-sha256": "UNSIGNED-PAYLOAD", ...headers },
      allHeaders: true,
      signQuery: isPresigned,
    }).sign();
    const answer = await fetchWithCa(front.caPem, url.href, {
      method,
      body,
      headers: { ...Object.fromEntries(sent), "content-length": String(Buffer.byteLength(body)) },
    });
    const text = await answer.text();
    const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? "";
    return { status: answer.status, code, headers: answer.headers, body: text };
  };
}
