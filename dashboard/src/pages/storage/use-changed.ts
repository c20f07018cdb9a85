import { useQueryClient } from "@tanstack/react-query";

/** To be called when something was stored, removed or restored: what is shown of the bucket is asked for anew. */
export function useChanged(project: string): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    for (const what of ["objects", "sizes", "usage"])
      await client.invalidateQueries({ queryKey: [what, project] });
  };
}
