/** The command line for a laptop, as one executable. */
import { join } from "node:path";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { CLI_DOWNLOADS } from "@resontech/contracts/cli-downloads";
import { Type } from "typebox";
import { GivenFiles } from "../../nodes/given-files.ts";
import { pageResponses } from "../responses.ts";

export type DownloadRoutesDeps = { downloads: Pick<GivenFiles, "open"> };

/** @param folder of the release; null for an appliance that gives out none */
export function downloadsIn(folder: string | null): GivenFiles {
  const names = folder === null ? [] : Object.values(CLI_DOWNLOADS);
  return new GivenFiles(
    new Map(names.map((name) => [name, join(folder ?? "", name)])),
    "there is no such file",
  );
}

export const downloadRoutes: FastifyPluginAsyncTypebox<DownloadRoutesDeps> = async (
  app,
  { downloads },
) => {
  app.get(
    "/dashboard/downloads/:name",
    {
      schema: {
        summary: "`resontech` as one Linux executable, and its SHA-256",
        tags: ["pages"],
        params: Type.Object(
          { name: Type.Enum(Object.values(CLI_DOWNLOADS)) },
          { additionalProperties: false },
        ),
        response: pageResponses("application/octet-stream"),
      },
      config: {
        access: {
          public: "a shell fetches it before anybody is signed in; the release is no secret",
        },
        audit: { none: "files of the release, which say nothing of this appliance's work" },
      },
    },
    (request, reply) => {
      const { name } = request.params;
      const { bytes, sizeBytes } = downloads.open(name);
      void reply
        .type("application/octet-stream")
        .header("content-length", sizeBytes)
        .header("content-disposition", `attachment; filename="${name}"`)
        .send(bytes);
    },
  );
};
