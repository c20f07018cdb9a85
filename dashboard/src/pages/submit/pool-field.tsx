import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { Field } from "../../ui/field.tsx";

/** Pools that the project may name; nothing where there is none. @property pool its name; empty: wherever it is let in */
export function PoolField({
  project,
  pool,
  onChange,
}: {
  project: string;
  pool: string;
  onChange: (pool: string) => void;
}) {
  const pools = useQuery({
    queryKey: ["pools"],
    queryFn: async ({ signal }) => (await ask("GET", "/api/pools", { signal })).pools,
  });
  const open = (pools.data ?? []).filter(
    (one) => one.project === null || one.project.id === project,
  );
  // What was chosen for another project is told, and not dropped without a word.
  if (open.length === 0 && pool === "") return null;
  return (
    <Field label="Pool" hint="With one it starts on nodes of that pool, and nowhere else.">
      <select value={pool} onChange={({ target }) => onChange(target.value)}>
        <option value="">wherever it is let in</option>
        {open.map(({ id, name }) => (
          <option key={id}>{name}</option>
        ))}
        {pool === "" || open.some(({ name }) => name === pool) ? null : (
          <option value={pool}>{pool}, which this project may not name</option>
        )}
      </select>
    </Field>
  );
}
