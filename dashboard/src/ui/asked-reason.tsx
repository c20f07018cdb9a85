import { Field } from "./field.tsx";

/** Why somebody asks for what a second person answers. */
export function AskedReason({
  value,
  onChange,
}: {
  value: string;
  onChange: (reason: string) => void;
}) {
  return (
    <Field label="Reason" hint="Whoever answers reads it.">
      <input
        maxLength={500}
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}

/** As a request carries it: an empty one is none. */
export function withReason(written: string): { reason?: string } {
  const reason = written.trim();
  return reason === "" ? {} : { reason };
}
