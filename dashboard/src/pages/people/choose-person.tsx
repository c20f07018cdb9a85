import type { PersonReply } from "@resontech/contracts/http-approvals";
import { Field } from "../../ui/field.tsx";

/** One of the people, by name. @param value the person's id; empty: none yet */
export function ChoosePerson({
  label,
  people,
  value,
  onChange,
  isRequired = false,
}: {
  label: string;
  people: readonly PersonReply[];
  value: string;
  onChange: (userId: string) => void;
  isRequired?: boolean;
}) {
  return (
    <Field label={label}>
      <select required={isRequired} value={value} onChange={({ target }) => onChange(target.value)}>
        <option value="">Choose a person</option>
        {people.map(({ id, username }) => (
          <option key={id} value={id}>
            {username}
          </option>
        ))}
      </select>
    </Field>
  );
}
