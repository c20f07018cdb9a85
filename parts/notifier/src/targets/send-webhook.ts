import { createHmac } from "node:crypto";
import { request } from "node:https";
import type { WebhookTarget } from "../alert-targets.ts";
import { connectionError, DeliveryError } from "../delivery-error.ts";
import { addressInside } from "../perimeter.ts";
import { DELIVERY_MS, secretOf, type ServerFiles, tlsOf } from "./server.ts";

/**
 * One POST. `x-resontech-signature: v1=<hex>` is HMAC-SHA256 by the target's secret over `<x-resontech-timestamp>.<body>`.
 * @param id the same whenever the same body is sent again
 * @throws DeliveryError
 */
export async function sendWebhook(
  target: WebhookTarget,
  files: ServerFiles,
  { id, body, at }: { id: string; body: string; at: number },
): Promise<void> {
  const url = new URL(target.url);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const address = await addressInside(host, target.perimeter ?? []);
  const timestamp = String(Math.floor(at / 1_000));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sent = request(
    {
      ...{ host: address, port: url.port === "" ? 443 : Number(url.port), method: "POST" },
      path: `${url.pathname}${url.search}`,
      ...tlsOf(host, target, files),
      headers: {
        ...{ host: url.host, "content-type": "application/json", "idempotency-key": id },
        "content-length": Buffer.byteLength(body),
        "x-resontech-timestamp": timestamp,
        "x-resontech-signature": signatureOf(secretOf(target, files), timestamp, body),
      },
      ...{ agent: false, signal: AbortSignal.timeout(DELIVERY_MS) },
    },
    (answer) => {
      const { statusCode = 0 } = answer;
      // What it says is thrown away: a redirect would lead elsewhere.
      answer.destroy();
      if (statusCode >= 200 && statusCode < 300) resolve();
      else reject(new DeliveryError("refused", `the server answered ${statusCode}`));
    },
  );
  sent.on("error", (error) => reject(connectionError(error)));
  sent.end(body);
  await promise;
}

export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}
