/** An authority of a customer's, by the real openssl: root, intermediate, and certificates of all kinds. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type LeafRequest = {
  names?: string;
  /** As `openssl genpkey` takes it. */
  key?: readonly string[];
  usage?: string;
  isCa?: boolean;
  days?: number;
  digest?: string;
  by?: "root" | "intermediate";
};

export class CustomersPki {
  readonly #folder: string;
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
    this.#key("root", ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]);
    this.#openssl(
      ...["req", "-x509", "-key", this.file("root.key"), "-out", this.file("root.crt")],
      ...["-days", "3650", "-subj", "/CN=Hospital root"],
      ...["-addext", "basicConstraints=critical,CA:TRUE"],
      ...["-addext", "keyUsage=critical,keyCertSign,cRLSign"],
    );
    this.#signed("intermediate", "root", {
      ...{ isCa: true, names: "", usage: "", days: 1_000, digest: "sha256" },
      key: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
    });
  }

  file(name: string): string {
    return join(this.#folder, name);
  }

  get ca(): string {
    return readFileSync(this.file("root.crt"), "utf8");
  }

  get intermediate(): string {
    return readFileSync(this.file("intermediate.crt"), "utf8");
  }

  /** A certificate for a server, of the intermediate. @returns PEM, without what stands above it */
  leaf({ by = "intermediate", ...wish }: LeafRequest = {}): { cert: string; key: string } {
    this.#count += 1;
    const name = `leaf-${this.#count}`;
    this.#signed(name, by, {
      ...{
        names: "DNS:gpu.hospital.example",
        usage: "serverAuth",
        isCa: false,
        days: 90,
        digest: "sha256",
      },
      key: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"],
      ...wish,
    });
    return {
      cert: readFileSync(this.file(`${name}.crt`), "utf8"),
      key: readFileSync(this.file(`${name}.key`), "utf8"),
    };
  }

  #signed(name: string, by: string, wish: Required<Omit<LeafRequest, "by">>): void {
    this.#key(name, wish.key);
    const extensions = [
      `basicConstraints=critical,CA:${wish.isCa ? "TRUE" : "FALSE"}`,
      ...(wish.isCa ? ["keyUsage=critical,keyCertSign,cRLSign"] : []),
      ...(wish.names === "" ? [] : [`subjectAltName=${wish.names}`]),
      ...(wish.usage === "" ? [] : [`extendedKeyUsage=${wish.usage}`]),
    ];
    writeFileSync(this.file(`${name}.ext`), `${extensions.join("\n")}\n`);
    this.#openssl(
      ...["req", "-new", "-key", this.file(`${name}.key`), "-out", this.file(`${name}.csr`)],
      ...["-subj", `/CN=${name}`],
    );
    this.#openssl(
      ...["x509", "-req", "-in", this.file(`${name}.csr`), "-out", this.file(`${name}.crt`)],
      ...["-CA", this.file(`${by}.crt`), "-CAkey", this.file(`${by}.key`), "-CAcreateserial"],
      ...["-days", String(wish.days), `-${wish.digest}`, "-extfile", this.file(`${name}.ext`)],
    );
  }

  #key(name: string, kind: readonly string[]): void {
    this.#openssl("genpkey", ...kind, "-out", this.file(`${name}.key`));
  }

  #openssl(...args: string[]): void {
    execFileSync("openssl", args, { stdio: "pipe" });
  }
}
