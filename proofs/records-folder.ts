/** Reads and writes docs/proofs/: a file a proof, the lists beside them, and docs/proofs.md made of all. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Value } from "typebox/value";
import { ProofRecord } from "./proof-record.ts";
import { type FaultFound, renderProofs, type ShownByTest } from "./proofs-document.ts";

const LISTS = ["shown-by-tests.json", "faults-found-by-use.json", "moved-tests.json"];

export class RecordsFolder {
  readonly #repository: string;
  readonly #docs: string;

  /** @param repository the tree that holds `docs/` */
  constructor(repository: string) {
    this.#repository = repository;
    this.#docs = join(repository, "docs");
  }

  write(record: ProofRecord): void {
    mkdirSync(join(this.#docs, "proofs"), { recursive: true });
    // Where the tree lies on this machine concerns nobody else.
    const text = JSON.stringify(record, null, 2).replaceAll(this.#repository, ".");
    this.#replace(join("proofs", `${record.proof}.json`), `${text}\n`);
  }

  /** @throws where a record is not one */
  read(): Map<string, ProofRecord> {
    const files = existsSync(join(this.#docs, "proofs"))
      ? readdirSync(join(this.#docs, "proofs"))
      : [];
    const records = files
      .filter((file) => file.endsWith(".json") && !LISTS.includes(file))
      .map((file) => Value.Parse(ProofRecord, this.#json(file)));
    return new Map(records.map((record) => [record.proof, record]));
  }

  get shownByTests(): ShownByTest[] {
    return this.#json("shown-by-tests.json") as ShownByTest[];
  }

  get faultsFound(): FaultFound[] {
    return this.#json("faults-found-by-use.json") as FaultFound[];
  }

  /** docs/proofs.md as it should be. */
  render(): string {
    return renderProofs(this.read(), this.shownByTests, this.faultsFound);
  }

  writeDocument(): void {
    this.#replace("proofs.md", this.render());
  }

  #json(file: string): unknown {
    return JSON.parse(readFileSync(join(this.#docs, "proofs", file), "utf8"));
  }

  #replace(file: string, text: string): void {
    const target = join(this.#docs, file);
    writeFileSync(`${target}.part`, text);
    renameSync(`${target}.part`, target);
  }
}
