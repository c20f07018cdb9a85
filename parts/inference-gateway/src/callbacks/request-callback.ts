/** Where a call's answer is to be posted: the call itself says it, or its deployment. */
import type { Route } from "@resontech/contracts/inference-routes";
import type { Outbound } from "../outbound/outbound.ts";
import { OutboundError } from "../outbound/outbound-error.ts";
import type { Refusal } from "../refuse.ts";
import type { Callbacks } from "./callbacks.ts";

/** @property secret signs what is posted */
export type CallbackRequest = { url: string; secret: string };

export const CALLBACKS_FULL: Refusal = {
  ...{ status: 503, type: "callbacks_full", retryAfterS: 60 },
  message: "as many answers of the deployment wait to be posted as may; nobody takes them",
};

/** @param said header of the call @returns null where nobody is to be told; a refusal where nobody could be */
export function requestCallback(
  {
    outbound,
    callbacks,
  }: {
    outbound: Pick<Outbound, "receiver">;
    callbacks: Pick<Callbacks, "hasPlace">;
  },
  { deployment, callback }: Route,
  said: string | string[] | undefined,
): CallbackRequest | { refusal: Refusal } | null {
  const url = typeof said === "string" && said !== "" ? said : (callback?.url ?? null);
  if (url === null) return null;
  if (callback === undefined)
    return {
      refusal: {
        ...{ status: 400, type: "callback_unavailable" },
        message: "the deployment's key is too old to sign callbacks; rotate the key",
      },
    };
  try {
    outbound.receiver(url);
  } catch (error) {
    if (error instanceof OutboundError) return { refusal: error.refusal };
    throw error;
  }
  if (!callbacks.hasPlace(deployment)) return { refusal: CALLBACKS_FULL };
  return { url, secret: callback.secret };
}
