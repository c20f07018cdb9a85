import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

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
