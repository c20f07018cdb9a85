import { execFile } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** PEM files of a server's certificate and of its key. */
export type CertificateFiles = { certFile: string; keyFile: string };

/** The same certificate for another server on loopback: who trusts one of them trusts both. */
export function copyCertificate({ certFile, keyFile }: CertificateFiles, dir: string): void {
  copyFileSync(certFile, join(dir, "server.crt"));
  copyFileSync(keyFile, join(dir, "server.key"));
}

/** Writes `server.crt` and `server.key` of a server on loopback, signed by itself. */
export async function makeCertificate(dir: string): Promise<void> {
  const config = join(dir, "req.cnf");
  writeFileSync(config, "[req]\ndistinguished_name=dn\n[dn]\n");
  await run("openssl", [
    ...["req", "-x509", "-config", config, "-newkey", "ec", "-pkeyopt"],
    ...["ec_paramgen_curve:P-256", "-noenc", "-days", "2", "-subj", "/CN=localhost"],
    ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
    ...["-keyout", join(dir, "server.key"), "-out", join(dir, "server.crt")],
  ]);
}
