/** `--class`, `--preemptible` and `--no-preemptible`: how a job stands beside others of its project. */
import { ASKED_CLASSES } from "@resontech/contracts/http-tasks";
import { Option } from "commander";

export function classOption(): Option {
  return new Option(
    "--class <class>",
    "comes first: interactive; as most jobs: train; takes what nobody else wants: scavenger; of administrators alone: system",
  ).choices([...ASKED_CLASSES]);
}

export const PREEMPTIBLE = [
  "--preemptible",
  "it borrows where it may, and makes way where it must; so does a job that says nothing",
] as const;
export const NOT_PREEMPTIBLE = [
  "--no-preemptible",
  "it starts only within what its project is guaranteed, and makes way for nobody there",
] as const;
