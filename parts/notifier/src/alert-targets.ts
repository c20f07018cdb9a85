/**
 * `<root>/etc/alerts.json`: where alerts go, as `appliance alerts` sets it. Root's, readable by the notifier. No secret is in it: the one of a
 * target lies in `secrets/notifier/<name>.secret`.
 */
import { type Static, Type } from "typebox";

export const TARGET_KINDS = ["smtp", "webhook", "syslog"] as const;
const closed = { additionalProperties: false } as const;
export const TargetName = Type.String({ pattern: "^[a-z][a-z0-9-]{0,30}$" });
const Host = Type.String({
  maxLength: 253,
  pattern: "^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9a-fA-F:]{2,39})$",
});
const Port = Type.Integer({ minimum: 1, maximum: 65535 });
/** Neither a blank nor a sign that ends a header or a list. */
export const MailAddress = Type.String({
  maxLength: 254,
  pattern: '^[^\\s<>,;:"()\\[\\]@]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
});
/** What every target has. */
const shared = {
  name: TargetName,
  /** Name of a file beside the secret that holds who vouches for the server. Absent: the appliance's own root. */
  caFile: Type.Optional(Type.String({ pattern: "^[a-z][a-z0-9-]{0,30}\\.ca\\.crt$" })),
  /** Networks of the customer beside the private ones, as CIDR: a target's address must lie in one. */
  perimeter: Type.Optional(Type.Array(Type.String({ maxLength: 49 }), { maxItems: 16 })),
};

export const SmtpTarget = Type.Object(
  {
    kind: Type.Literal("smtp"),
    ...shared,
    ...{ host: Host, port: Port },
    /** `tls` from the first byte, `starttls` before anything is said, `plain` without. */
    security: Type.Enum(["tls", "starttls", "plain"]),
    from: MailAddress,
    /** Who hears of alerts. Ends of jobs go to who asked for them. */
    to: Type.Array(MailAddress, { minItems: 1, maxItems: 32 }),
    /** With it the secret is its password. */
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  },
  closed,
);
export const WebhookTarget = Type.Object(
  {
    kind: Type.Literal("webhook"),
    ...shared,
    /** HTTPS alone; a redirect is a failure. The secret signs the body. */
    url: Type.String({ maxLength: 2048, pattern: "^https://[^\\s@#]+$" }),
  },
  closed,
);
export const SyslogTarget = Type.Object(
  {
    kind: Type.Literal("syslog"),
    ...shared,
    ...{ host: Host, port: Port },
    transport: Type.Enum(["tls", "tcp"]),
  },
  closed,
);
export const AlertTarget = Type.Union([SmtpTarget, WebhookTarget, SyslogTarget]);
export const AlertTargets = Type.Object(
  { formatVersion: Type.Literal(1), targets: Type.Array(AlertTarget, { maxItems: 32 }) },
  closed,
);
export type SmtpTarget = Static<typeof SmtpTarget>;
export type WebhookTarget = Static<typeof WebhookTarget>;
export type SyslogTarget = Static<typeof SyslogTarget>;
export type AlertTarget = Static<typeof AlertTarget>;
export type AlertTargets = Static<typeof AlertTargets>;

/** Files among the notifier's secrets without which a target takes no message. */
export function secretFilesOf(target: AlertTarget): string[] {
  const hasSecret =
    target.kind === "webhook" || (target.kind === "smtp" && target.username !== undefined);
  return [
    ...(hasSecret ? [`${target.name}.secret`] : []),
    ...(target.caFile === undefined ? [] : [target.caFile]),
  ];
}
