import { asProblem } from "../../api/problem.ts";

/** A project's bucket is made by the first upload: until then there is nothing in it. */
export async function orUnmade<T>(asked: Promise<T>, nothing: T): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (asProblem(error).code === "bucket_missing") return nothing;
    throw error;
  }
}
