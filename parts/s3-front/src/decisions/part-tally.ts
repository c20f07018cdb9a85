/** Counts the parts that a list of parts names, as it streams by. A comment could fool it; whoever writes one is only counted too high. */
export class PartTally {
  parts = 0;
  #tail = "";

  push(chunk: Buffer): void {
    const text = this.#tail + chunk.toString("latin1");
    this.parts += text.split(MARK).length - 1;
    this.#tail = text.slice(-(MARK.length - 1));
  }
}

/** One character shorter than what is kept of each chunk, so none is counted twice. */
const MARK = "<PartNumber>";
