import { Field } from "../../ui/field.tsx";

/** The key of a deployment, which the person pastes. */
export function KeyField({ value, onChange }: { value: string; onChange: (key: string) => void }) {
  return (
    <Field
      label="Key"
      hint="It was shown when the deployment was made, or with New key. This page keeps it nowhere."
    >
      <input
        type="password"
        required
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}
