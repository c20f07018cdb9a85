/** A tensor or an array of a model's file, as its header tells it. */
export type Tensor = { name: string; dtype: string; shape: readonly number[] };

export function elementsOf({ shape }: Tensor): number {
  return shape.reduce((product, size) => product * size, 1);
}
