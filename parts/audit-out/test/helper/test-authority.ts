/** An authority, and certificates of it for a name of a receiver and for us; made by openssl. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

export type Certificate = { certFile: string; keyFile: string };

export class TestAuthority {
  readonly #folder: string;
  readonly caFile: string;
  readonly #keyFile: string;

  constructor(folder: string, name = "ca") {
    this.#folder = folder;
    this.caFile = join(folder, `${name}.pem`);
    this.#keyFile = join(folder, `${name}.key`);
    openssl([
      "req",
      "-x509",
      "-nodes",
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      ...newKey(this.#keyFile),
      "-out",
      this.caFile,
    ]);
  }

  issue(name: string): Certificate {
    const [certFile, keyFile, request, extensions] = ["pem", "key", "csr", "ext"].map((end) =>
      join(this.#folder, `${name}.${end}`),
    ) as [string, string, string, string];
    writeFileSync(extensions, `subjectAltName=DNS:${name}\n`);
    openssl(["req", "-nodes", "-subj", `/CN=${name}`, ...newKey(keyFile), "-out", request]);
    const signed = [
      "-CA",
      this.caFile,
      "-CAkey",
      this.#keyFile,
      "-CAcreateserial",
      "-days",
      "2",
      "-extfile",
      extensions,
    ];
    openssl(["x509", "-req", "-in", request, ...signed, "-out", certFile]);
    return { certFile, keyFile };
  }
}

function newKey(keyFile: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", keyFile];
}

function openssl(args: readonly string[]): void {
  const { status, stderr } = spawnSync("openssl", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
}
