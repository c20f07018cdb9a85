/** @property arriving GPUs of each task in order of arrival @property marks after how many tasks what is left over is counted */
export type Arrivals = { arriving: readonly number[]; marks: readonly number[] };

/**
 * Tasks drawn from a trace until they ask for as many GPUs as the last demand says.
 * @param severalShare of the GPUs asked for, how many by tasks of several GPUs; null: as traced. The authors of the trace vary it as well
 * @param demands in GPUs, rising
 */
export function drawArrivals(
  tasks: readonly number[],
  random: () => number,
  { severalShare, demands }: { severalShare: number | null; demands: readonly number[] },
): Arrivals {
  const single = tasks.filter((gpus) => gpus === 1);
  const several = tasks.filter((gpus) => gpus > 1);
  const mean = several.reduce((sum, gpus) => sum + gpus, 0) / several.length;
  // Of so many tasks in all one is of several GPUs.
  const chance =
    severalShare === null
      ? several.length / tasks.length
      : severalShare / (severalShare + (1 - severalShare) * mean);
  const arriving: number[] = [];
  const marks: number[] = [];
  let asked = 0;
  for (const demand of demands) {
    while (asked < demand) {
      const from = random() < chance ? several : single;
      const gpus = from[Math.floor(random() * from.length)]!;
      arriving.push(gpus);
      asked += gpus;
    }
    marks.push(arriving.length);
  }
  return { arriving, marks };
}
