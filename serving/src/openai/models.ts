/** Pure: deployments as models of the OpenAI API. */
import type { Route } from "@resontech/contracts/inference-routes";

export type Model = { id: string; object: "model"; created: number; owned_by: string };

export function modelOf({ name, createdAt, project }: Route): Model {
  return {
    ...{ id: name, object: "model", owned_by: project },
    created: Math.floor(createdAt / 1_000),
  };
}

/**
 * By name or by the deployment's id, of what the caller may call. Of several of one name the caller's own project has the first word, so that nobody
 * takes a model's place by a PUBLIC one of its name; of those of one side the newest.
 * @param project of the caller; null where the key is a deployment's own
 */
export function findModel(
  callable: readonly Route[],
  model: string,
  project: string | null,
): Route | null {
  const found = callable.filter(
    ({ api, name, deployment }) => api === "openai" && (name === model || deployment === model),
  );
  const isTheirs = (route: Route) => (route.project === project ? 0 : 1);
  return found.sort((a, b) => isTheirs(a) - isTheirs(b) || b.createdAt - a.createdAt)[0] ?? null;
}

/** Each name once. */
export function modelsOf(callable: readonly Route[], project: string | null): Model[] {
  const names = new Set(callable.filter(({ api }) => api === "openai").map(({ name }) => name));
  return [...names].flatMap((name) => findModel(callable, name, project) ?? []).map(modelOf);
}
