import { Field } from "../../ui/field.tsx";

/** Some of the nodes. */
export function NodesField({
  nodes,
  chosen,
  onChoose,
}: {
  nodes: readonly string[];
  chosen: readonly string[];
  onChoose: (chosen: string[]) => void;
}) {
  return (
    <Field
      label="Nodes"
      hint={nodes.length === 0 ? "No node is free." : "Several with Ctrl or Shift."}
    >
      <select
        multiple
        size={Math.min(8, Math.max(2, nodes.length))}
        value={[...chosen]}
        onChange={({ target }) => onChoose([...target.selectedOptions].map(({ value }) => value))}
      >
        {nodes.map((node) => (
          <option key={node} value={node}>
            {node}
          </option>
        ))}
      </select>
    </Field>
  );
}
