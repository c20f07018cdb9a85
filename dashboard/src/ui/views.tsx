import { type ReactNode, useEffect, useRef } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { scrollSideways } from "./scroll-sideways.ts";
import styles from "./views.module.css";

export type ViewEntry = readonly [key: string, title: string, content: ReactNode];

/** Several views of one thing, one at a time. On a narrow window their names stand in one line, and the one that is open is in sight. */
export function Views({
  label,
  views,
  selected,
  onSelect,
}: {
  label: string;
  views: readonly ViewEntry[];
  selected: string;
  onSelect: (key: string) => void;
}) {
  return (
    <Tabs
      className={styles["views"] ?? ""}
      selectedKey={selected}
      onSelectionChange={(key) => onSelect(String(key))}
    >
      <TabList aria-label={label} className={styles["list"] ?? ""}>
        {views.map(([key, title]) => (
          <Tab key={key} id={key} className={styles["view"] ?? ""}>
            {({ isSelected }) => <ViewName title={title} isSelected={isSelected} />}
          </Tab>
        ))}
      </TabList>
      {views.map(([key, , content]) => (
        <TabPanel key={key} id={key} className={styles["panel"] ?? ""}>
          {content}
        </TabPanel>
      ))}
    </Tabs>
  );
}

function ViewName({ title, isSelected }: { title: string; isSelected: boolean }) {
  const name = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const list = name.current?.closest("[role=tablist]");
    if (isSelected && list) scrollSideways(list, name.current!);
  }, [isSelected]);
  return <span ref={name}>{title}</span>;
}
