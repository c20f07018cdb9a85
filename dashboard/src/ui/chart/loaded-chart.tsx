import { loadedComponent } from "../loaded-component.tsx";

/** Whoever sees no curve does not fetch what draws them. */
export const LoadedChart = loadedComponent(async () => (await import("./chart.tsx")).Chart);
