import { useSession } from "../../api/session.ts";
import { Field } from "../../ui/field.tsx";

/** Projects that the person may submit in. */
export function useOpenProjects() {
  const { projects } = useSession();
  return projects.filter(({ role }) => role === "project-lead" || role === "researcher");
}

export function ProjectField({
  project,
  onChange,
}: {
  project: string;
  onChange: (project: string) => void;
}) {
  return (
    <Field label="Project">
      <select required value={project} onChange={({ target }) => onChange(target.value)}>
        {useOpenProjects().map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </Field>
  );
}
