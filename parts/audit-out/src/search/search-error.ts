/** What a search is refused for. Codes never change meaning. */
const STATUS = {
  query_invalid: 400,
  search_invalid: 400,
  cursor_invalid: 400,
  not_found: 404,
  event_unknown: 404,
  log_damaged: 500,
  internal: 500,
  index_rebuilding: 503,
  vault_unavailable: 503,
} as const;
export type SearchErrorCode = keyof typeof STATUS;

export class SearchError extends Error {
  override readonly name = "SearchError";
  readonly code: SearchErrorCode;

  constructor(code: SearchErrorCode, message: string) {
    super(message);
    this.code = code;
  }

  get status(): number {
    return STATUS[this.code];
  }
}
