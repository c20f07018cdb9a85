/** A file that the release must hold has no source in this tree. */
export class SourceMissingError extends Error {
  readonly code = "source_missing";
  /** Path in the release tree. */
  readonly path: string;
  /** Path in this repository. */
  readonly source: string;

  constructor(path: string, source: string, options?: ErrorOptions) {
    super(`${path} of the release is built from ${source}, which is not there`, options);
    this.path = path;
    this.source = source;
  }
}
