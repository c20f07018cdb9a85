/** NATS, S3 and the registry: static programs of the release, each under its own numeric user. */
import { readFileSync } from "node:fs";
import { firstBytes, httpsGet, unixHttpStatus } from "./health.ts";
import { engineVersion, type PartContext } from "./context.ts";
import { type PartUser, processPart } from "./process-part.ts";
import { makeSocketFolder } from "./socket-folder.ts";
import { uidOf } from "@resontech/frame/layout";
import { s3Front } from "@resontech/s3-front/part";
import type { Part } from "./part.ts";

export function natsPart(context: PartContext): Part {
  const { config, layout } = context;
  return processPart(context, {
    name: "nats",
    after: [],
    user: "nats",
    program: layout.release("engines", "nats-server"),
    args: ["--config", layout.secrets("nats", "nats.conf")],
    port: config.ports.nats,
    version: engineVersion(context, "nats"),
    // Its greeting, before TLS begins.
    isHealthy: async () =>
      (await firstBytes(config.address, config.ports.nats))?.toString().startsWith("INFO ") ===
      true,
  });
}

export function s3Part(context: PartContext): Part {
  const { config, layout } = context;
  const user: PartUser = "s3";
  const socket = layout.run("s3", "sock");
  return processPart(context, {
    name: "s3",
    after: [],
    user,
    program: layout.release("engines", "versitygw"),
    args: [
      // On no network: the S3 front alone may open this socket.
      "--port",
      socket,
      "--socket-perm",
      "0660",
      "--keep-alive",
      "--region",
      "garage",
      "--iam-dir",
      layout.data("s3", "iam"),
      "--health",
      "/healthz",
      "--quiet",
      "posix",
      "--versioning-dir",
      layout.data("s3", "versions"),
      layout.data("s3", "objects"),
    ],
    // The engine takes its admin key from the environment alone: argv is for everybody to read.
    env: () => {
      const admin = JSON.parse(readFileSync(layout.secrets(user, "admin-key.json"), "utf8")) as {
        accessKeyId: string;
        secretAccessKey: string;
      };
      return {
        ROOT_ACCESS_KEY_ID: admin.accessKeyId,
        ROOT_SECRET_ACCESS_KEY: admin.secretAccessKey,
      };
    },
    port: null,
    version: engineVersion(context, "s3"),
    prepare: async () =>
      makeSocketFolder(
        layout.run("s3"),
        { uid: uidOf(config, "s3"), gid: config.uidBase + s3Front.user },
        socket,
      ),
    isHealthy: async () => (await unixHttpStatus(socket, "/healthz")) === 200,
  });
}

export function registryPart(context: PartContext): Part {
  const { config, layout } = context;
  return processPart(context, {
    name: "registry",
    after: [],
    user: "registry",
    program: layout.release("engines", "registry"),
    args: ["serve", layout.secrets("registry", "registry.yml")],
    env: () => ({ OTEL_TRACES_EXPORTER: "none" }),
    port: config.ports.registry,
    version: engineVersion(context, "registry"),
    // 401: it is up and asks for a token.
    isHealthy: async () =>
      (
        await httpsGet({
          host: config.address,
          port: config.ports.registry,
          path: "/v2/",
          servername: config.name,
          caFile: layout.trustCert,
        })
      )?.status === 401,
  });
}
