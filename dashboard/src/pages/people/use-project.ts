import type { ProjectReply } from "@resontech/contracts/http-projects";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";

const PROJECTS = ["projects"];

/** Projects that the person is in, with what is in force in each. */
export function useProjects() {
  return useQuery({
    queryKey: PROJECTS,
    queryFn: ({ signal }) => ask("GET", "/api/projects", { signal }),
  });
}

/** What is in force in a project. @property project null until the appliance has said it */
export function useProject(id: string): {
  project: ProjectReply | null;
  error: unknown;
  again: () => Promise<void>;
} {
  const client = useQueryClient();
  const { data, error } = useProjects();
  return {
    project: data?.find((one) => one.id === id) ?? null,
    error,
    again: () => client.invalidateQueries({ queryKey: PROJECTS }),
  };
}
