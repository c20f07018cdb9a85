/**
 * Who vouches for the appliance's doors, from which this node fetches and to which it uploads: what the node was given when it joined, and what
 * the coordinator has told since, over the bus. For the bus itself and for other nodes the appliance's own root vouches alone.
 */
import { hash, X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { splitTrust } from "@resontech/contracts/door-authorities";
import { replaceFileNow } from "@resontech/frame/durable-file-now";

const FILE = "door-ca.crt";

export class DoorTrust {
  /** Of the bus and of nodes. */
  readonly root: string;
  readonly #file: string;
  readonly #registryCertsDir: string | null;
  #told: string;

  /** @param rootCertFile the root first @param registryCertsDir where the container engine looks for who vouches for the registry */
  constructor({
    rootCertFile,
    dataDir,
    registryCertsDir,
  }: {
    rootCertFile: string;
    dataDir: string;
    registryCertsDir?: string;
  }) {
    const { root, doors } = splitTrust(readFileSync(rootCertFile, "utf8"));
    this.root = root;
    this.#file = join(dataDir, FILE);
    this.#registryCertsDir = registryCertsDir ?? null;
    this.#told = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : doors;
    this.#tellEngine();
  }

  /** PEM of everybody who vouches for a door. */
  get ca(): string {
    return `${this.root}${this.#told}`;
  }

  /** Of what the coordinator told last, or of what the node was given. */
  get sha256(): string {
    return hash("sha256", this.#told);
  }

  /** Kept before it counts. @throws Error for what is no certificates, and nothing has changed */
  take(pem: string): void {
    if (pem === this.#told) return;
    const { root, doors } = splitTrust(pem);
    if (pem !== "") {
      if (`${root}${doors}` !== pem)
        throw new Error("what the coordinator tells is no certificates");
      for (const one of pem.split(/(?<=-----END CERTIFICATE-----\n)/))
        void new X509Certificate(one);
    }
    replaceFileNow(this.#file, pem, 0o600);
    this.#told = pem;
    this.#tellEngine();
  }

  /** It reads the folder at each pull, and takes every file of it. */
  #tellEngine(): void {
    if (this.#registryCertsDir === null || !existsSync(this.#registryCertsDir)) return;
    const file = join(this.#registryCertsDir, FILE);
    const isThere = existsSync(file);
    // The root's own file lies beside it.
    if (isThere ? readFileSync(file, "utf8") === this.ca : this.#told === "") return;
    replaceFileNow(file, this.ca, 0o644);
  }
}
