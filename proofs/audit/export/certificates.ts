/** An authority and a certificate for each name, made by openssl. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export type Issued = { certFile: string; keyFile: string };

export function issueCertificates<N extends string>(
  folder: string,
  names: readonly N[],
): { caFile: string; issued: Record<N, Issued> } {
  const caFile = join(folder, "ca.pem");
  const caKeyFile = join(folder, "ca.key");
  openssl([
    "req",
    "-x509",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=proof",
    ...newKey(caKeyFile),
    "-out",
    caFile,
  ]);
  const issue = (name: N): [N, Issued] => {
    const certFile = join(folder, `${name}.pem`);
    const keyFile = join(folder, `${name}.key`);
    const request = join(folder, `${name}.csr`);
    const extensions = join(folder, `${name}.ext`);
    writeFileSync(extensions, `subjectAltName=DNS:${name}\n`);
    openssl(["req", "-nodes", "-subj", `/CN=${name}`, ...newKey(keyFile), "-out", request]);
    openssl([
      "x509",
      "-req",
      "-in",
      request,
      "-CA",
      caFile,
      "-CAkey",
      caKeyFile,
      "-CAcreateserial",
      "-days",
      "2",
      "-extfile",
      extensions,
      "-out",
      certFile,
    ]);
    return [name, { certFile, keyFile }];
  };
  return { caFile, issued: Object.fromEntries(names.map(issue)) as Record<N, Issued> };
}

function newKey(keyFile: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", keyFile];
}

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
}
