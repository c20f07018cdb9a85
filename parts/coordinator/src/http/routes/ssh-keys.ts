/** The SSH public keys of a person's profile. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { SshKeysBody, SshKeysReply } from "@resontech/contracts/http-identity";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../../api-error.ts";
import type { SessionCaller } from "../../authorization/caller.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { readSshPublicKey, type SshPublicKey } from "../../identity/decisions/ssh-public-key.ts";
import { setSshKeys, sshKeysOf } from "../../identity/ssh-key-store.ts";
import { responses } from "../responses.ts";

export type SshKeyRoutesDeps = { read: ReadHandle; commit: GroupCommit };

const tags = ["profile"];

export const sshKeyRoutes: FastifyPluginAsyncTypebox<SshKeyRoutesDeps> = async (
  app,
  { read, commit },
) => {
  app.get(
    "/api/me/ssh-keys",
    {
      schema: { summary: "The own SSH public keys", tags, response: responses(200, SshKeysReply) },
      config: { access: { own: "shows the own public keys" }, audit: { none: "status" } },
    },
    async (request) => replyOf(sshKeysOf(read, person(request).userId)),
  );

  app.put(
    "/api/me/ssh-keys",
    {
      schema: {
        summary: "Replace the own SSH public keys: those that are left out are gone",
        ...{ tags, body: SshKeysBody, response: responses(200, SshKeysReply) },
      },
      config: {
        access: { own: "changes the own public keys" },
        audit: { event: "iam.user.change" },
      },
    },
    async (request) => {
      const { userId } = person(request);
      const lines = request.body.keys.map((text, at) => parsed(text, at).line);
      requireEachOnce(lines);
      await request.audit.operation(
        {
          type: "iam.user.change",
          object: { kind: "user", id: userId },
          detail: { change: "ssh-keys", keys: lines.length },
        },
        (operation) =>
          commit.run((db) => {
            setSshKeys(db, userId, lines);
            operation.completeIn(db);
          }),
      );
      return replyOf(lines);
    },
  );
};

/** A platform key changes no profile: who stole one could let himself in for good. */
function person({ caller }: FastifyRequest): SessionCaller {
  if (caller?.kind !== "session") throw new ApiError("session_required", "nobody is signed in");
  return caller;
}

/** @param at from 0 */
function parsed(text: string, at: number): SshPublicKey {
  const key = readSshPublicKey(text);
  if (key === null)
    throw new ApiError("ssh_key_invalid", `key ${at + 1} is no SSH public key that is taken here`);
  return key;
}

/** Whatever the comment says. */
function requireEachOnce(lines: readonly string[]): void {
  const prints = lines.map((line, at) => parsed(line, at).fingerprint);
  const twice = prints.find((print, at) => prints.indexOf(print) !== at);
  if (twice !== undefined) throw new ApiError("ssh_key_invalid", `${twice} is there twice`);
}

function replyOf(lines: readonly string[]) {
  return {
    keys: lines.map((text, at) => {
      const { fingerprint, type, comment, line } = parsed(text, at);
      return { fingerprint, type, comment, key: line };
    }),
  };
}
