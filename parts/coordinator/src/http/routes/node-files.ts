import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { NODE_FILE_NAMES } from "@resontech/contracts/node-files";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import type { NodeFiles } from "../../nodes/node-files.ts";
import { responses } from "../responses.ts";

export type NodeFileRoutesDeps = { nodeFiles: Pick<NodeFiles, "open"> };

/** A node asks for some two hundred files; several may come from behind one address. */
const PER_MINUTE = 3_000;
const closed = { additionalProperties: false } as const;

const config = {
  access: {
    public:
      "a host that is no node yet has no credential; the release and the root certificate are no secret",
  },
  audit: { none: "files of the release, which say nothing of this appliance's work" },
  rateLimit: { max: PER_MINUTE, timeWindow: 60_000 },
} as const;
const response = responses(200, Type.String({ description: "The bytes of the file." }));

export const nodeFileRoutes: FastifyPluginAsyncTypebox<NodeFileRoutesDeps> = async (
  app,
  { nodeFiles },
) => {
  const send = (reply: FastifyReply, key: string): void => {
    const { bytes, sizeBytes } = nodeFiles.open(key);
    void reply.type("application/octet-stream").header("content-length", sizeBytes).send(bytes);
  };

  app.get(
    "/node/v1/:name",
    {
      logLevel: "warn",
      schema: {
        summary: "What a new node verifies everything else by",
        tags: ["nodes"],
        params: Type.Object({ name: Type.Enum(NODE_FILE_NAMES) }, closed),
        response,
      },
      config,
    },
    (request, reply) => send(reply, request.params.name),
  );

  app.get(
    "/node/v1/blobs/sha256/:digest",
    {
      logLevel: "warn",
      schema: {
        summary: "A file of the release that a node needs, by its SHA-256",
        tags: ["nodes"],
        params: Type.Object({ digest: Type.String({ pattern: "^[0-9a-f]{64}$" }) }, closed),
        response,
      },
      config,
    },
    (request, reply) => send(reply, request.params.digest),
  );
};
