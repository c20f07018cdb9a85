import { existsSync } from "node:fs";

/** What a command was to write is there already: an auditor's evidence is never replaced. */
class FileExistsError extends Error {
  override readonly name = "FileExistsError";
  readonly code = "file_exists";
  readonly hint = "Name another file, or move that one away first.";

  constructor(file: string) {
    super(`${file} is there already and is not replaced`);
  }
}

/** @throws FileExistsError */
export function requireAbsent(file: string): void {
  if (existsSync(file)) throw new FileExistsError(file);
}
