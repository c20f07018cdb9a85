/** What the notifier answers on its two sockets: one JSON line each way. */
import { type Static, Type } from "typebox";
import { MailAddress } from "./alert-targets.ts";

const closed = { additionalProperties: false } as const;

/** Why a message was not taken. */
export const DELIVERY_CODES = [
  "no_target",
  "secret_missing",
  "outside_perimeter",
  "not_found",
  "unreachable",
  "untrusted",
  "refused",
  "login_refused",
  "unconfirmed",
] as const;
export type DeliveryCode = (typeof DELIVERY_CODES)[number];

/** Of `appliance`, on the control socket. */
export const NotifierRequest = Type.Union([
  Type.Object({ verb: Type.Literal("status") }, closed),
  Type.Object({ verb: Type.Literal("test"), name: Type.String({ maxLength: 31 }) }, closed),
]);
export type NotifierRequest = Static<typeof NotifierRequest>;

/** Of the coordinator, on the mail socket: one mail to one person. */
export const MailRequest = Type.Object(
  {
    verb: Type.Literal("mail"),
    to: MailAddress,
    subject: Type.String({ minLength: 1, maxLength: 256 }),
    text: Type.String({ minLength: 1, maxLength: 16_384 }),
  },
  closed,
);
export type MailRequest = Static<typeof MailRequest>;

/** @property waiting messages that were not taken yet @property dropped of these, since the last success, because there were too many */
export type TargetState = {
  name: string;
  kind: "smtp" | "webhook" | "syslog";
  waiting: number;
  dropped: number;
  /** Unix milliseconds; null before the first. */
  deliveredAt: number | null;
  failure: { code: DeliveryCode; message: string; at: number; tries: number } | null;
};
export type NotifierReply =
  | { ok: true; verb: "status"; targets: TargetState[]; firing: number }
  | { ok: true; verb: "test" | "mail" }
  | { ok: false; error: { code: DeliveryCode | "unknown_request"; message: string } };
