import { InvalidArgumentError } from "commander";

/** Longest life of a join token. */
export const MAX_TOKEN_S = 86_400;

/** @throws InvalidArgumentError */
export function tokenSeconds(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > MAX_TOKEN_S)
    throw new InvalidArgumentError(`seconds from 1 to ${MAX_TOKEN_S} are meant`);
  return value;
}
