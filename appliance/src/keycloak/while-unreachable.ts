import { setTimeout as sleep } from "node:timers/promises";
import { KeycloakUnreachableError } from "@resontech/keycloak/address";

/** A host that starts everything at once may let a healthy Keycloak wait for a minute. */
const LIMIT_MS = 120_000;
const PAUSE_MS = 2_000;

/** Does it again while Keycloak does not answer. @param work may be repeated from any point @throws KeycloakUnreachableError after two minutes */
export async function whileUnreachable<T>(
  work: () => Promise<T>,
  { limitMs = LIMIT_MS, pauseMs = PAUSE_MS }: { limitMs?: number; pauseMs?: number } = {},
): Promise<T> {
  for (const end = Date.now() + limitMs; ; await sleep(pauseMs))
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof KeycloakUnreachableError) || Date.now() > end) throw error;
    }
}
