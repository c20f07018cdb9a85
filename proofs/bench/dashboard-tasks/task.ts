/** One task of a person: how it is done on the pages, and how its answer is judged. */
import { join } from "node:path";
import type { Steps, Visitor } from "./visitor.ts";

export type Task = {
  /** Names its picture, too. */
  name: string;
  goal_s: number;
  visitor: Visitor;
  /** What was asked for, as it is known without a look at the pages. */
  expected: string;
  /** Does it, and answers what the pages said. */
  answer: () => Promise<string>;
  isRight: (said: string) => boolean | Promise<boolean>;
};

export type Tried = Steps & {
  goal_s: number;
  right: boolean;
  expected: string;
  said: string;
  picture: string;
};

const LONGEST_SAID = 400;

/** One that can't be done is wrong, and hides no other. @param into folder of pictures @param named how the record names that folder */
export async function tryTask(task: Task, into: string, named: string): Promise<Tried> {
  const { name, goal_s, visitor, expected } = task;
  let said: string;
  let right = false;
  let steps: Steps = { clicks: 0, fields: 0, keys: 0, scrolls: 0, seconds: 0 };
  try {
    await visitor.begin();
    said = await task.answer();
    steps = visitor.steps;
    right = await task.isRight(said);
  } catch (error) {
    steps = visitor.steps;
    said = `not done: ${error instanceof Error ? error.message : String(error)}`;
  }
  const file = `${name}.webp`;
  await visitor.picture(join(into, file));
  return {
    ...steps,
    goal_s,
    right,
    expected,
    said: said.slice(0, LONGEST_SAID),
    picture: `${named}/${file}`,
  };
}
