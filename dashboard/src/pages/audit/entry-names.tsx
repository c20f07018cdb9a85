import type { AuditEventRow } from "@resontech/contracts/http-audit";
import { shortIds } from "./short-ids.ts";
import { objectWords } from "./entry-words.ts";
import type { Names } from "./named-people.ts";

/** How ids of one answer are told: by name where names are shown, else by a short handle that is the same in every row. */
export class EntryNames {
  readonly #short: ReadonlyMap<string, string>;
  readonly #names: Names;

  constructor(rows: readonly AuditEventRow[], names: Names) {
    this.#names = names;
    this.#short = shortIds(
      rows.flatMap(({ sub, onBehalfOf, object, approval, handle }) =>
        [sub, onBehalfOf, object, approval, handle].filter((id) => id !== null),
      ),
    );
  }

  /** In words alone. */
  of(id: string): string {
    return this.#names.get(id) ?? this.#short.get(id) ?? id;
  }

  isNamed(id: string): boolean {
    return this.#names.has(id);
  }
}

/** An id, the whole of it on hover. */
export function EntryId({ id, names }: { id: string; names: EntryNames }) {
  return names.isNamed(id) ? (
    <span title={id}>{names.of(id)}</span>
  ) : (
    <code title={id}>{names.of(id)}</code>
  );
}

export function EntryActor({ row, names }: { row: AuditEventRow; names: EntryNames }) {
  const { sub, onBehalfOf } = row;
  if (onBehalfOf === null || onBehalfOf === sub) return <EntryId id={sub} names={names} />;
  return (
    <>
      <EntryId id={onBehalfOf} names={names} /> by <EntryId id={sub} names={names} />
    </>
  );
}

/** What an entry is about. An object of the store is sealed: its handle is the same for the same object. */
export function EntryObject({ row, names }: { row: AuditEventRow; names: EntryNames }) {
  if (row.kind === "object")
    return row.handle === null ? (
      <span title={row.object}>an object, sealed</span>
    ) : (
      <>
        object <EntryId id={row.handle} names={names} />
      </>
    );
  const [kind, id] = objectWords(row);
  return (
    <>
      {kind}
      {id === null ? null : (
        <>
          {" "}
          <EntryId id={id} names={names} />
        </>
      )}
    </>
  );
}
