/** Pages that few open on a day: they come when they are opened, or when somebody is about to. */
import { loadedComponent } from "../ui/loaded-component.tsx";

export const LoadedArrays = loadedComponent(
  async () => (await import("../pages/arrays/arrays-page.tsx")).ArraysPage,
);
export const LoadedArray = loadedComponent(
  async () => (await import("../pages/arrays/array-page.tsx")).ArrayPage,
);
export const LoadedCompare = loadedComponent(
  async () => (await import("../pages/compare/compare-page.tsx")).ComparePage,
);
export const LoadedQueue = loadedComponent(
  async () => (await import("../pages/queue/queue-page.tsx")).QueuePage,
);
export const LoadedSubmit = loadedComponent(
  async () => (await import("../pages/submit/submit-page.tsx")).SubmitPage,
);

/** Fetches what draws a page, for whoever points at its link. */
export function preloadPage(path: string): void {
  if (path === "/queue") void LoadedQueue.preload();
  if (path === "/submit") void LoadedSubmit.preload();
}
