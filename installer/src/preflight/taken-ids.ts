import type { UidRange } from "@resontech/contracts/uid-range";

/** Texts of `/etc/passwd`, `group`, `subuid` and `subgid`; empty where there is no such file. */
export type IdFiles = Record<"passwd" | "group" | "subuid" | "subgid", string>;

type IdsOf = (fields: readonly string[]) => { first: number; count: number };

const one: IdsOf = ([, , id = ""]) => ({ first: id === "" ? Number.NaN : Number(id), count: 1 });
const many: IdsOf = ([, first = "", count = ""]) => ({
  first: Number(first),
  count: Number(count),
});
const KINDS: Readonly<Record<keyof IdFiles, { what: string; idsOf: IdsOf }>> = {
  passwd: { what: "user", idsOf: one },
  group: { what: "group", idsOf: one },
  subuid: { what: "sub-ids of", idsOf: many },
  subgid: { what: "sub-ids of", idsOf: many },
};

/** Whoever has a number of the range: users, groups, and the rootless containers of users. */
export function takenIds(files: IdFiles, { from, to }: UidRange): string[] {
  const found = (Object.keys(KINDS) as (keyof IdFiles)[]).flatMap((file) =>
    files[file]
      .split("\n")
      .map((line) => line.split(":"))
      .filter((fields) => {
        const { first, count } = KINDS[file].idsOf(fields);
        return first <= to && first + count > from;
      })
      .map(([name = ""]) => `${KINDS[file].what} ${name}`),
  );
  return [...new Set(found)];
}
