/**
 * Where a request comes from. On a Unix socket that is what the front door says there, which has removed what a client wrote; the socket's
 * folder lets nobody else in. On any other server it is the address of the connection, and the header means nothing.
 */
import { isIP } from "node:net";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import fp from "fastify-plugin";
import { ApiError } from "../api-error.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** An IP address; what is counted or recorded by source takes this. @throws ApiError when the front door said none */
    readonly peer: string;
  }
}

export const peerAddress = fp(
  async (app) => {
    app.decorateRequest("peer", {
      getter() {
        if (typeof this.server.server.address() !== "string") return this.ip;
        const said = this.headers[PEER_HEADER];
        if (typeof said !== "string" || isIP(said) === 0)
          throw new ApiError("malformed_request", "the request does not come from the front door");
        return said;
      },
    });
  },
  { name: "peer-address" },
);
