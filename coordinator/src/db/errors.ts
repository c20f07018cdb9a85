/** The file was written by a newer program; running an older one on it would lose what it does not know. */
export class DatabaseTooNew extends Error {
  override readonly name = "DatabaseTooNew";
  readonly code = "database_too_new";
  readonly file: string;
  readonly found: number;
  readonly known: number;

  constructor(file: string, found: number, known: number) {
    super(`the database has schema ${found}, this program knows ${known}`);
    this.file = file;
    this.found = found;
    this.known = known;
  }
}
