/** Devices of the whole fleet at once, for whoever may see nodes. Of jobs nothing but that one holds a device. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { FleetDevicesReply } from "@resontech/contracts/http-nodes";
import { authorize } from "../authorization.ts";
import { responses } from "../responses.ts";

export type DeviceRoutesDeps = { fleetDevices: () => FleetDevicesReply };

export const deviceRoutes: FastifyPluginAsyncTypebox<DeviceRoutesDeps> = async (
  app,
  { fleetDevices },
) => {
  app.get(
    "/api/devices",
    {
      schema: {
        summary: "Every device of every node: whether it is held, well, and how busy, full and hot",
        ...{ tags: ["nodes"], response: responses(200, FleetDevicesReply) },
      },
      config: { access: { action: "node.list" }, audit: { none: "status" } },
    },
    async (request) => {
      await authorize(request, "node.list", "every");
      return fleetDevices();
    },
  );
};
