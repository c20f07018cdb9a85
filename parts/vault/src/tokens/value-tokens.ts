/**
 * Tokens by which a search finds the entries that hold a value. They are made anew from what is sealed whenever they are asked for, and kept
 * nowhere here: with a subject's keys they are gone.
 */
import { createHmac } from "node:crypto";
import {
  type ErasedEnd,
  FOLDER_FIELD,
  foldersOf,
  PATH_FIELD,
  type TokenLine,
  type TokensEnd,
  type VaultTokensRequest,
} from "@resontech/contracts/vault-tokens";
import type { Turns } from "@resontech/frame/turns";
import type { Logger } from "pino";
import { UnsealError } from "../keys/aead.ts";
import type { KeyTable } from "../keys/key-table.ts";
import type { CommitmentStore, SealedCommitment } from "../privacy/commitment-store.ts";
import { erasedBy } from "../privacy/erased-by.ts";
import { unsealValue } from "../privacy/sealed-value.ts";
import type { Outbox } from "../record/outbox.ts";

/** Nobody finds two values of one token by chance, and the index of a year stays small. */
const TOKEN_BYTES = 16;

export type TokenParts = {
  keys: KeyTable;
  store: CommitmentStore;
  outbox: Outbox;
  turns: Turns;
  log: Logger;
};

export class ValueTokens {
  readonly #parts: TokenParts;

  constructor(parts: TokenParts) {
    this.#parts = parts;
  }

  async answer(
    request: VaultTokensRequest,
    give: (line: object) => Promise<void>,
  ): Promise<object> {
    switch (request.verb) {
      case "token":
        return { token: await this.#tokenOf(request.field, request.value) };
      case "tokens":
        return this.#page(request, give);
      case "erased":
        return this.#erased(request.after, give);
    }
  }

  async #tokenOf(field: string, value: string): Promise<string> {
    const mac = createHmac("sha256", await this.#parts.keys.tokenKey());
    return mac
      .update(`${field}\0`)
      .update(value, "utf8")
      .digest()
      .subarray(0, TOKEN_BYTES)
      .toString("hex");
  }

  /** A token of no field, from which nothing is learnt of the key but whether it is another. */
  #keyId(): Promise<string> {
    return this.#tokenOf("", "");
  }

  async #page(
    { origin, after, before, limit }: Extract<VaultTokensRequest, { verb: "tokens" }>,
    give: (line: object) => Promise<void>,
  ): Promise<TokensEnd> {
    const { store, turns } = this.#parts;
    // In one turn: what is being destroyed is either asked about afterwards, as erased, or was never given.
    const { lines, end } = await turns.run(async () => {
      const rows = store.pageOfSealed(origin, after, before, limit);
      const made: TokenLine[] = [];
      for (const row of rows) made.push(...(await this.#linesOf(row)));
      const last = rows.at(-1);
      const at = last === undefined ? null : { index: last.index, field: last.field };
      return { lines: made, end: { more: rows.length === limit, at, key: await this.#keyId() } };
    });
    for (const line of lines) await give(line);
    return { end };
  }

  /** None for what can't be opened: its key is being destroyed, or damaged, which the vault says elsewhere. */
  async #linesOf({
    subject,
    month,
    index,
    field,
    commitment,
    sealed,
  }: SealedCommitment): Promise<TokenLine[]> {
    const { keys, log } = this.#parts;
    try {
      const key = await keys.find({ subject, month });
      if (key === null) return [];
      const { value } = unsealValue(key, commitment, sealed);
      const folders =
        field === PATH_FIELD
          ? foldersOf(value).map((folder) => this.#tokenOf(FOLDER_FIELD, folder))
          : [];
      const tokens = await Promise.all([this.#tokenOf(field, value), ...folders]);
      return tokens.map((token) => ({ index, field, token }));
    } catch (error) {
      if (!(error instanceof UnsealError)) throw error;
      log.warn({ err: error, index, field }, "a value can't be opened, and is found by no search");
      return [];
    }
  }

  async #erased(after: number, give: (line: object) => Promise<void>): Promise<ErasedEnd> {
    const { store, outbox } = this.#parts;
    const life = outbox.boot;
    const next = store.destroyedAfter(after);
    if (next === null) return { end: { act: null, life } };
    for await (const page of erasedBy(store, next.op))
      for (const { origin, index, field } of page) await give({ origin, index, field });
    return { end: { act: next.n, life } };
  }
}
