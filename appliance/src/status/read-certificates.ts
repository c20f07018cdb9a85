import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Layout } from "@resontech/frame/layout";
import type { CertificateFacts } from "./decisions/certificate-finding.ts";

const DAY_MS = 86_400_000;
const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Every certificate that the appliance serves or is known by, with the days that it still holds: of several in one file, the fewest.
 * The customer's own is told where it is kept, and not once more for each door.
 */
export function readCertificates(layout: Layout, now: number): CertificateFacts[] {
  const secrets = layout.secrets("");
  const folders = existsSync(secrets)
    ? readdirSync(secrets).map((process) => join(secrets, process))
    : [];
  const customers = layout.doorCertificate("door.crt");
  const shown = existsSync(customers) ? readFileSync(customers, "utf8") : null;
  const files = [...folders, layout.caDir, layout.doorCertificate(), layout.data("agent")]
    .flatMap((folder) =>
      existsSync(folder)
        ? readdirSync(folder)
            .filter((name) => name.endsWith(".crt") && !name.startsWith("next"))
            .map((name) => join(folder, name))
        : [],
    )
    // Who is trusted is told one by one.
    .filter((file) => file !== layout.trustCert);
  return files.flatMap((file) => {
    const text = readFileSync(file, "utf8");
    if (text === shown && file !== customers) return [];
    return [{ file, daysLeft: (endOf(text) - now) / DAY_MS }];
  });
}

/** Unix milliseconds. */
function endOf(text: string): number {
  const ends = (text.match(PEM) ?? [text]).map((pem) =>
    Date.parse(new X509Certificate(pem).validTo),
  );
  return Math.min(...ends);
}
