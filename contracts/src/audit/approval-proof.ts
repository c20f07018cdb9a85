/**
 * What shows that people agreed to one act: tokens that the identity provider signed at a step-up, each bound to exactly what was asked by its nonce.
 * Who performs the act checks them himself; the coordinator, which keeps them, is believed in nothing.
 */
import { type Static, Type } from "typebox";
import { PlainId, Sha256Hex } from "./audit-event.ts";
import { closed } from "../closed.ts";

/** What one person signs: to ask for it, or to agree to what somebody asked for. */
export type StepUpStatement = {
  approval: string;
  answer: "request" | "approve";
  /** The person's pseudonym in the log. */
  by: string;
  /** 32 random bytes: nobody can tell from a nonce what was signed, or know the nonce of another sign-in. */
  salt: string;
  /** The act, by the form of its kind. */
  what: Readonly<Record<string, unknown>>;
};

/** @property token ID token, as it came: a JWS in compact form */
export const StepUpSignature = Type.Object(
  {
    by: PlainId,
    salt: Sha256Hex,
    token: Type.String({
      maxLength: 8_192,
      pattern: "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$",
    }),
  },
  closed,
);
export type StepUpSignature = Static<typeof StepUpSignature>;

/** @property approved null where nobody else is there who could agree */
export const ApprovalProof = Type.Object(
  {
    approval: PlainId,
    requested: StepUpSignature,
    approved: Type.Union([StepUpSignature, Type.Null()]),
  },
  closed,
);
export type ApprovalProof = Static<typeof ApprovalProof>;
