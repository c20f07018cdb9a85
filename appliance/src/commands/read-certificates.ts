import { X509Certificate } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Layout } from "../layout.ts";
import type { CertificateFacts } from "./decisions/findings.ts";

const DAY_MS = 86_400_000;

/** Every certificate that the appliance serves or is known by, with the days that it still holds. */
export function readCertificates(layout: Layout, now: number): CertificateFacts[] {
  const secrets = layout.secrets("");
  const folders = existsSync(secrets)
    ? readdirSync(secrets).map((process) => join(secrets, process))
    : [];
  const files = [...folders, layout.caDir, layout.data("agent")].flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith(".crt"))
          .map((name) => join(folder, name))
      : [],
  );
  return files.map((file) => ({
    file,
    daysLeft: (Date.parse(new X509Certificate(readFileSync(file)).validTo) - now) / DAY_MS,
  }));
}
