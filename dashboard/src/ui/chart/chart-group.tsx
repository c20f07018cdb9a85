import { createContext, type ReactNode, use, useId, useMemo, useState } from "react";
import { Button } from "../button.tsx";
import { Icon } from "../icon/icon.tsx";
import type { Zoom } from "./ranges.ts";
import styles from "./chart.module.css";

type Group = {
  key: string;
  height: number;
  zoom: Zoom | null;
  setZoom: (zoom: Zoom | null) => void;
};

const [LARGE, SMALL] = [200, 140];

const ChartGroupContext = createContext<Group | null>(null);

/** Charts on one axis: a cursor stands in all of them at once, and who zooms into one zooms into all. */
export function ChartGroup({
  children,
  tools,
  about,
  isSmall = false,
}: {
  children: ReactNode;
  tools?: ReactNode;
  /** What is to be known of all of them. */
  about?: string;
  /** Three beside one another rather than two. */
  isSmall?: boolean;
}) {
  const key = useId();
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const group = useMemo(
    () => ({ key, height: isSmall ? SMALL : LARGE, zoom, setZoom }),
    [key, isSmall, zoom],
  );
  return (
    <ChartGroupContext value={group}>
      <div className={styles["tools"]}>
        {tools}
        {zoom === null ? (
          <span className={styles["hint"]}>Drag over a chart to zoom in. {about}</span>
        ) : (
          <Button onPress={() => setZoom(null)}>
            <Icon name="zoom-out" /> Show all
          </Button>
        )}
      </div>
      <div className={styles[isSmall ? "small" : "charts"]}>{children}</div>
    </ChartGroupContext>
  );
}

export function useChartGroup(): Group {
  const group = use(ChartGroupContext);
  if (group === null) throw new Error("a chart stands in a group of charts");
  return group;
}
