/** Which of several projects is meant: each has a bucket, jobs and keys of its own. */
import type { ProjectReply } from "@resontech/contracts/http-projects";
import { Option } from "commander";
import { getJson } from "./api-client.ts";
import { CliError } from "./cli-error.ts";
import { printable } from "./printable.ts";
import { type Settings, settingsFrom } from "./settings.ts";

type Named = Pick<ProjectReply, "id" | "name">;

/** Makes the option of a command that works in one project. */
export function projectOption(): Option {
  return optionOf("the project that is meant, by id or name; your first one where none is named");
}

/** Makes the option of a list that has all projects where none is named. */
export function projectFilter(): Option {
  return optionOf("of one project, by id or name");
}

/** @param named null: the first project of who is signed in, or the one of the key @throws CliError as {@link chosenProject} */
export async function settingsInProject(
  env: NodeJS.ProcessEnv,
  named: string | undefined,
): Promise<Settings> {
  const settings = settingsFrom(env);
  return { ...settings, project: (await projectIdOf(settings, named)) ?? null };
}

/** The id of the project that is meant; undefined: none is named. @throws CliError as {@link chosenProject} */
export async function projectIdOf(
  settings: Settings,
  named: string | undefined,
): Promise<string | undefined> {
  if (named === undefined) return undefined;
  return chosenProject(await getJson(settings, "/api/projects"), named);
}

/** @param projects of the caller @throws CliError `project_unknown`, `project_ambiguous` */
export function chosenProject(projects: readonly Named[], named: string): string {
  const ofId = projects.find(({ id }) => id === named);
  if (ofId !== undefined) return ofId.id;
  const ofName = projects.filter(({ name }) => name === named);
  if (ofName.length === 1) return ofName[0]!.id;
  if (ofName.length > 1)
    throw new CliError(
      "project_ambiguous",
      `${ofName.length} of your projects are called ${printable(named)}`,
      `Name one by its id: ${ofName.map(({ id }) => id).join(", ")}.`,
    );
  throw new CliError(
    "project_unknown",
    `no project of yours is ${printable(named)}`,
    "`resontech projects ls` lists them. A platform key works in its own project alone.",
  );
}

function optionOf(words: string): Option {
  return new Option("--project <project>", words).env("RESON_PROJECT");
}
