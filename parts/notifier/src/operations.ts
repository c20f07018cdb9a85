/** What the notifier does for others. */
import { FiringAlert } from "@resontech/contracts/appliance-facts";
import { defineOperation } from "@resontech/frame/operation";
import { type Static, Type } from "typebox";
import { MailAddress, TARGET_KINDS, TargetName } from "./alert-targets.ts";

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

/** @property waiting messages that were not taken yet @property dropped of these, since the last success, because there were too many */
export const TargetState = Type.Object({
  name: TargetName,
  kind: Type.Enum([...TARGET_KINDS]),
  waiting: Type.Integer(),
  dropped: Type.Integer(),
  /** Unix milliseconds; null before the first. */
  deliveredAt: Type.Union([Type.Number(), Type.Null()]),
  failure: Type.Union([
    Type.Object({
      code: Type.Enum([...DELIVERY_CODES]),
      message: Type.String(),
      at: Type.Number(),
      tries: Type.Integer(),
    }),
    Type.Null(),
  ]),
});
export type TargetState = Static<typeof TargetState>;

/** Who is told of alerts, and whether each took the last message. */
export const listTargets = defineOperation({
  name: "list-targets",
  request: Type.Object({}, closed),
  reply: Type.Object({
    targets: Type.Array(TargetState),
    /** Alerts in force. */
    firing: Type.Integer(),
    /** The same, each. */
    alerts: Type.Array(FiringAlert),
  }),
  codes: [],
});

/** A message that says that it is a try, to one target, at once. */
export const sendTestAlert = defineOperation({
  name: "send-test-alert",
  request: Type.Object({ target: TargetName }, closed),
  reply: Type.Object({}, closed),
  codes: DELIVERY_CODES,
});

/** One mail to one person, by the first target that sends mail. */
export const mailToPerson = defineOperation({
  name: "mail-to-person",
  request: Type.Object(
    {
      to: MailAddress,
      subject: Type.String({ minLength: 1, maxLength: 256 }),
      text: Type.String({ minLength: 1, maxLength: 16_384 }),
    },
    closed,
  ),
  reply: Type.Object({}, closed),
  codes: DELIVERY_CODES,
});
export type PersonalMail = Static<typeof mailToPerson.request>;
