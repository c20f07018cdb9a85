/** What the device of a member does, as points of curves of its job. Pure. */

/** Percent, bytes and watts. */
export const DEVICE_MEASURES = ["use", "memory", "power"] as const;
export type DeviceMeasure = (typeof DEVICE_MEASURES)[number];

/** What a tool does not say is null. */
export type DeviceReading = {
  worker: string;
  usePercent: number | null;
  memoryBytes: number;
  watts: number | null;
};

/** A curve's name has its measure and its device: a member may hold several. */
export function devicePoints(reading: DeviceReading): [name: string, value: number][] {
  const values: Record<DeviceMeasure, number | null> = {
    ...{ use: reading.usePercent, memory: reading.memoryBytes, power: reading.watts },
  };
  return DEVICE_MEASURES.flatMap((measure) => {
    const value = values[measure];
    return value === null ? [] : [[`${measure} ${reading.worker}`, value] as [string, number]];
  });
}

/** @returns null for what is no curve of a device */
export function deviceOfCurve(name: string): { measure: DeviceMeasure; worker: string } | null {
  const measure = DEVICE_MEASURES.find((one) => name.startsWith(`${one} `));
  return measure === undefined ? null : { measure, worker: name.slice(measure.length + 1) };
}
