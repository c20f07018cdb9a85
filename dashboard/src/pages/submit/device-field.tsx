import { Field } from "../../ui/field.tsx";
import { useCatalogue } from "./use-catalogue.ts";

/** @param models catalogue ids with commas; empty: any */
export function DeviceField({
  models,
  onChange,
  hint = "Any: the job takes what fits.",
}: {
  models: string;
  onChange: (models: string) => void;
  hint?: string;
}) {
  const online = useCatalogue().filter((model) => model.online > 0);
  const isOther = models !== "" && !online.some(({ id }) => id === models);
  return (
    <Field label="Device" hint={hint}>
      <select value={models} onChange={({ target }) => onChange(target.value)}>
        <option value="">any</option>
        {isOther ? <option value={models}>{models.replaceAll(",", ", then ")}</option> : null}
        {online.map(({ id, name, free, online: count }) => (
          <option key={id} value={id}>
            {name}: {free} of {count} free
          </option>
        ))}
      </select>
    </Field>
  );
}
