import type { SmtpTarget } from "../alert-targets.ts";
import { createTransport } from "nodemailer";
import { connectionError, DeliveryError } from "../delivery-error.ts";
import type { Mail } from "../decisions/messages.ts";
import { addressInside } from "../perimeter.ts";
import { DELIVERY_MS, secretOf, type ServerFiles, tlsOf } from "./server.ts";

/** Taken once every address of `to` was. @throws DeliveryError */
export async function sendMail(
  target: SmtpTarget,
  files: ServerFiles,
  { to, subject, text }: Mail & { to: readonly string[] },
): Promise<void> {
  const { host, port, security, username, from } = target;
  const address = await addressInside(host, target.perimeter ?? []);
  const transport = createTransport({
    ...{ host: address, port, secure: security === "tls" },
    ...{ requireTLS: security === "starttls", ignoreTLS: security === "plain" },
    ...(username === undefined ? {} : { auth: { user: username, pass: secretOf(target, files) } }),
    ...(security === "plain" ? {} : { tls: tlsOf(host, target, files) }),
    ...{ connectionTimeout: DELIVERY_MS, greetingTimeout: DELIVERY_MS, socketTimeout: DELIVERY_MS },
    // A message is text alone: nothing is fetched for it.
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  try {
    const { rejected } = await transport.sendMail({ from, to: [...to], subject, text });
    if (rejected.length > 0)
      throw new DeliveryError(
        "refused",
        `the server does not take mail for ${rejected.join(", ")}`,
      );
  } catch (error) {
    throw mailError(error);
  } finally {
    transport.close();
  }
}

function mailError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const {
    code = "",
    responseCode,
    message,
  } = error as Error & { code?: string; responseCode?: number };
  if (code === "EAUTH")
    return new DeliveryError("login_refused", "the server refuses user name or password", {
      cause: error,
    });
  if (responseCode !== undefined)
    return new DeliveryError("refused", `the server answered ${responseCode}`, { cause: error });
  if (code === "ETLS")
    return new DeliveryError("untrusted", `no TLS with this server: ${message}`, { cause: error });
  // nodemailer's own code hides what the socket said.
  return connectionError(
    /certificate|self.signed|altname/i.test(message)
      ? Object.assign(new Error(message), { code: "CERT" })
      : error,
  );
}
