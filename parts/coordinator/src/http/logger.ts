import { logDestination } from "@resontech/frame/log-destination";
import { pino, type DestinationStream, type Logger } from "pino";

/** Headers and fields that hold a secret, wherever an object with them is logged. */
const SECRETS = [
  "authorization",
  "cookie",
  "password",
  "token",
  "secretAccessKey",
  "platformKey",
  "headers.authorization",
  "headers.cookie",
  'headers["x-api-key"]',
  "req.headers",
];

/**
 * One JSON line an event. Requests are logged as method and path without query: tokens and names travel in queries.
 */
export function makeLogger(level: string, destination?: DestinationStream): Logger {
  return pino(
    {
      level,
      base: { part: "coordinator" },
      redact: {
        paths: SECRETS.flatMap((path) => [path, path.startsWith("req") ? path : `*.${path}`]),
        censor: "[secret]",
      },
      serializers: {
        err: pino.stdSerializers.err,
        req: (request: { id: string; method: string; url: string }) => ({
          id: request.id,
          method: request.method,
          path: request.url.split("?", 1)[0],
        }),
        res: (reply: { statusCode: number }) => ({ status: reply.statusCode }),
      },
    },
    destination ?? logDestination(1),
  );
}
