import type { IncomingMessage } from "node:http";
import { S3Refusal } from "../decisions/s3-error.ts";

/** A small body whole; its length was declared and bounded before. @throws S3Refusal RequestTimeout when it ends early */
export async function readBody(request: IncomingMessage, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    throw new S3Refusal("RequestTimeout", "the body ended early");
  }
  const body = Buffer.concat(chunks);
  if (body.length !== bytes) throw new S3Refusal("RequestTimeout", "the body ended early");
  return body;
}
