/** Pure: deployments as models of the OpenAI API. */
import type { Route } from "@resontech/contracts/inference-routes";

export type Model = { id: string; object: "model"; created: number; owned_by: string };

export function modelOf({ name, createdAt, project }: Route): Model {
  return {
    ...{ id: name, object: "model", owned_by: project },
    created: Math.floor(createdAt / 1_000),
  };
}

/** By name or by the deployment's id, of what the caller may call; of several of one name the newest. */
export function findModel(callable: readonly Route[], model: string): Route | null {
  const found = callable.filter(
    ({ api, name, deployment }) => api === "openai" && (name === model || deployment === model),
  );
  return found.sort((a, b) => b.createdAt - a.createdAt)[0] ?? null;
}

/** Each name once. */
export function modelsOf(callable: readonly Route[]): Model[] {
  const names = new Set(callable.filter(({ api }) => api === "openai").map(({ name }) => name));
  return [...names].flatMap((name) => findModel(callable, name) ?? []).map(modelOf);
}
