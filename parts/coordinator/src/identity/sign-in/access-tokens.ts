/** Whoever comes with an access token of Keycloak's: a person's shell, or a service account. */
import type { ServiceAccountCaller, SessionCaller } from "../../authorization/caller.ts";
import type { ServiceAccounts } from "../service-accounts/service-accounts.ts";
import type { OpenIdProvider } from "./open-id-provider.ts";
import type { Sessions } from "./sessions.ts";

/** @property tokenId of the token, which a service account gets anew every five minutes at least */
export type TokenBearer =
  | { caller: SessionCaller }
  | { caller: ServiceAccountCaller; tokenId: string };

export type AccessTokensDeps = {
  provider: Pick<OpenIdProvider, "readAccessToken">;
  sessions: Pick<Sessions, "callerOfPerson">;
  serviceAccounts: Pick<ServiceAccounts, "callerOf">;
};

export class AccessTokens {
  readonly #deps: AccessTokensDeps;

  constructor(deps: AccessTokensDeps) {
    this.#deps = deps;
  }

  /** Null for a good token of nobody who may come in; `over` of a service account that was revoked or has expired. @throws SignInRefused */
  async bearerOf(token: string): Promise<TokenBearer | "over" | null> {
    const { provider, sessions, serviceAccounts } = this.#deps;
    const claims = await provider.readAccessToken(token);
    if (claims.kind === "person") {
      const person = sessions.callerOfPerson(claims);
      return person === null ? null : { caller: person };
    }
    const caller = serviceAccounts.callerOf(claims);
    if (caller === null || caller === "over") return caller;
    return { caller, tokenId: claims.tokenId };
  }
}
