import type { ProjectReply } from "@resontech/contracts/http-projects";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";

const PROJECTS = ["projects"];

/** Projects that the person is in, with what is in force in each. */
export function useProjects() {
  const mayList = useMay("project.list");
  return useQuery({
    enabled: mayList,
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
