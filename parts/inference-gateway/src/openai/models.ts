/** Pure: deployments as models of the OpenAI API. */
import type { Route } from "@resontech/contracts/inference-routes";

export type Model = { id: string; object: "model"; created: number; owned_by: string };

/** @param id as the caller knows it: the deployment's name, or one of those whose place it has taken */
export function modelOf({ name, createdAt, project }: Route, id: string = name): Model {
  return { id, object: "model", owned_by: project, created: Math.floor(createdAt / 1_000) };
}

/**
 * By name or by the deployment's id, of what the caller may call; also by those of a deployment whose place another one has taken, as long as nobody has
 * them now. Of several of one name the caller's own project has the first word, so that nobody takes a model's place by a PUBLIC one of its name; of
 * those of one side the newest.
 * @param project of the caller; null where the key is a deployment's own
 */
export function findModel(
  callable: readonly Route[],
  model: string,
  project: string | null,
): Route | null {
  const found = callable.filter((route) => route.api === "openai" && isNamed(route, model));
  const isTheirs = (route: Route) => (route.project === project ? 0 : 1);
  const isFormer = ({ name, deployment }: Route) =>
    name === model || deployment === model ? 0 : 1;
  return (
    found.sort(
      (a, b) => isTheirs(a) - isTheirs(b) || isFormer(a) - isFormer(b) || b.createdAt - a.createdAt,
    )[0] ?? null
  );
}

/** Each name once, former ones too: a client looks for the name that it knows. */
export function modelsOf(callable: readonly Route[], project: string | null): Model[] {
  const routes = callable.filter(({ api }) => api === "openai");
  const names = new Set([
    ...routes.map(({ name }) => name),
    ...routes.flatMap(({ formerNames = [] }) => formerNames),
  ]);
  return [...names].flatMap((name) => {
    const route = findModel(callable, name, project);
    return route === null ? [] : [modelOf(route, name)];
  });
}

function isNamed({ name, deployment, aliases, formerNames = [] }: Route, model: string): boolean {
  return [name, deployment, ...aliases, ...formerNames].includes(model);
}
