/** The tree is not fit for the release that is asked for; nothing was changed. */
export class ReleaseRefusedError extends Error {
  readonly code:
    | "version_malformed"
    | "version_not_higher"
    | "versions_differ"
    | "unreleased_missing"
    | "unreleased_empty"
    | "tree_dirty"
    | "tag_exists";
  readonly hint: string;

  constructor(code: ReleaseRefusedError["code"], message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}
