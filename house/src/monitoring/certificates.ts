import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CertificateAuthority } from "@resontech/appliance/certificate-authority";
import type { Certificate } from "./receivers.ts";

/** A CA of the appliance's own kind, and a server of `localhost`. */
export async function certificates(dir: string): Promise<Certificate & { caFile: string }> {
  mkdirSync(dir, { recursive: true });
  const ca = new CertificateAuthority(join(dir, "ca"));
  await ca.ensureRoot("test");
  await ca.ensureServer(dir, { uid: 0, gid: 0 }, "server", ["localhost"]);
  return {
    caFile: ca.rootCertFile,
    ...{ certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key") },
  };
}
