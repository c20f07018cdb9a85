import { loadedComponent } from "../../../ui/loaded-component.tsx";

/** What reads logs comes when somebody opens them. */
export const LazyLogs = loadedComponent(async () => (await import("./logs.tsx")).Logs);
