/** Certificates that end. Pure. */
import { fault, type Finding, warning } from "@resontech/frame/finding";

export type CertificateFacts = { file: string; daysLeft: number };

/** A certificate is told of at these many days before its end, ever louder. */
const CERTIFICATE_DAYS = { told: 90, soon: 60, now: 30 };

export function certificateFinding({ file, daysLeft }: CertificateFacts): Finding | null {
  if (daysLeft > CERTIFICATE_DAYS.told) return null;
  const left = Math.floor(daysLeft);
  const what = daysLeft <= 0 ? `${file} has expired` : `${file} expires in ${left} days`;
  const remedy = certificateRemedy(file);
  const when =
    daysLeft <= CERTIFICATE_DAYS.now
      ? "now: "
      : daysLeft <= CERTIFICATE_DAYS.soon
        ? "choose a day this month: "
        : "";
  const todo = `${when}${remedy}`;
  return (daysLeft <= 0 ? fault : warning)("certificate_expiring", what, todo);
}

/** A node renews its own; all others but the root are made anew by a start in the last third of their life. */
function certificateRemedy(file: string): string {
  if (file.includes("/door-certificate/"))
    return file.endsWith("/before.crt")
      ? "nothing: it was the authority of the certificate before"
      : "bring a newer one: appliance certificates use";
  if (file.endsWith("/node.crt"))
    return "the agent renews it by itself, and did not: its log says why, appliance logs agent";
  return file.endsWith("/ca/root.crt")
    ? "this release can't renew it: ask your vendor for one that can"
    : "appliance restart renews it";
}
