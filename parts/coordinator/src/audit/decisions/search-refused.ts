/** A search that can match no entry: the message says what is allowed. */
export class SearchRefused extends Error {
  override readonly name = "SearchRefused";
}
