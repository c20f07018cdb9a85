/**
 * Who may connect to NATS, and what each may say: the server asks on `$SYS.REQ.USER.AUTH` for every connection but the
 * coordinator's own. A node is its certificate: signed by our intermediate, and the very one that the node's row names; one
 * that joined again or was revoked has another. It may publish to `agent.<node>.>` and hear its hint and its own inbox.
 */
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { decode, encodeAuthorizationResponse, encodeUser } from "@nats-io/jwt";
import { fromSeed, type KeyPair } from "@nats-io/nkeys";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { busSubjectsOf } from "../authorization/bus-subjects.ts";

const AUTH_SUBJECT = "$SYS.REQ.USER.AUTH";
const MAX_REQUEST_BYTES = 65_536;

/** The part of the server's request that decides; the rest of it is not ours to read. */
const AuthorizationRequest = Type.Object({
  server_id: Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }),
  user_nkey: Type.String({ minLength: 1, maxLength: 128 }),
  client_tls: Type.Optional(
    Type.Object({
      verified_chains: Type.Optional(Type.Array(Type.Array(Type.String({ maxLength: 16_384 })))),
    }),
  ),
});
type AuthorizationRequest = Static<typeof AuthorizationRequest>;
const authorizationRequest = Compile(AuthorizationRequest);

/** Whom a verified leaf certificate belongs to; null for one that is not let in. */
export type AdmitNode = (leafPem: string) => { node: string; validUntil: number } | null;

export type AuthCalloutOptions = {
  connection: NatsConnection;
  /** Seed of the account key that signs answers. */
  accountSeed: Uint8Array;
  /** Account that nodes are placed in. */
  account: string;
  admit: AdmitNode;
  onError: (error: unknown) => void;
};

/** Serves until the connection closes. */
export function serveAuthCallout({
  connection,
  accountSeed,
  account,
  admit,
  onError,
}: AuthCalloutOptions): void {
  const issuer = fromSeed(accountSeed);
  connection.subscribe(AUTH_SUBJECT, {
    callback: (refused, message) => {
      if (refused !== null) return onError(refused);
      answer(message, { issuer, account, admit })
        .then((reply) => message.respond(reply))
        .catch(onError);
    },
  });
}

async function answer(
  message: Msg,
  { issuer, account, admit }: { issuer: KeyPair; account: string; admit: AdmitNode },
): Promise<string> {
  const request = readRequest(message);
  const leaf = request.client_tls?.verified_chains?.[0]?.[0];
  const admitted = leaf === undefined ? null : admit(leaf);
  const subjects =
    admitted === null
      ? null
      : busSubjectsOf({ kind: "node", node: admitted.node, by: "certificate" });
  const verdict =
    admitted === null || subjects === null
      ? { error: "this certificate is not admitted" }
      : {
          jwt: await encodeUser(
            admitted.node,
            request.user_nkey,
            issuer,
            {
              // -1 is no limit of its own; left out, the server reads 0.
              ...{ subs: -1, data: -1, payload: -1 },
              pub: { allow: subjects.publish, deny: [] },
              sub: { allow: subjects.subscribe, deny: [] },
            },
            { aud: account, exp: Math.floor(admitted.validUntil / 1000) },
          ),
        };
  return encodeAuthorizationResponse(request.user_nkey, request.server_id.id, issuer, verdict, {});
}

function readRequest(message: Msg): AuthorizationRequest {
  if (message.data.length > MAX_REQUEST_BYTES)
    throw new RangeError(`an authorization request of ${message.data.length} bytes`);
  const { nats } = decode(message.string());
  if (!authorizationRequest.Check(nats))
    throw new TypeError("an authorization request of unknown form");
  return nats;
}
