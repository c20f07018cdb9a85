/** Certificates of what people's programs and nodes dial: the customer's, where there is one that holds; else the appliance's own. */
import { serverNames } from "@resontech/frame/server-names";
import type { CertificateAuthority } from "../ca/certificate-authority.ts";
import { customersCertificate, showCustomers } from "../ca/door-certificate.ts";
import type { Owner } from "../config/owned-file.ts";
import type { PartContext } from "../parts/context.ts";

/** `server.crt` and `server.key` of a door, in its folder of secrets. */
export async function ensureDoorCertificate(
  context: Pick<PartContext, "config" | "layout">,
  { folder, owner }: { folder: string; owner: Owner },
  ca: CertificateAuthority,
): Promise<void> {
  const customers = customersCertificate(context.layout);
  if (customers === null)
    await ca.ensureServer(folder, owner, "server", serverNames(context.config));
  else showCustomers(folder, owner, customers);
}
