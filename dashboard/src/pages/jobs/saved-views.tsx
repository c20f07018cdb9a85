import { useState } from "react";
import { Link, useSearchParams } from "wouter";
import { Button } from "../../ui/button.tsx";
import { readViews, type View, withView, writeViews } from "./kept-views.ts";
import styles from "./jobs-page.module.css";

/** Filters that the person named, each a link; the ones that are set now can be named as well. */
export function SavedViews() {
  const [search] = useSearchParams();
  const [views, setViews] = useState(readViews);
  const [name, setName] = useState("");
  const now = search.toString();
  const keep = (next: View[]) => {
    writeViews(next);
    setViews(next);
  };
  const current = views.find((view) => view.search === now);
  if (views.length === 0 && now === "") return null;
  return (
    <div className={styles["views"]}>
      {views.length === 0 ? null : (
        <nav aria-label="Saved views" className={styles["groups"]}>
          {views.map((view) => (
            <Link
              key={view.name}
              href={`/jobs${view.search === "" ? "" : `?${view.search}`}`}
              className={styles["group"] ?? ""}
              aria-current={view === current ? "page" : undefined}
            >
              {view.name}
            </Link>
          ))}
        </nav>
      )}
      {current !== undefined ? (
        <Button
          look="quiet"
          onPress={() => keep(views.filter((view) => view !== current))}
        >{`Forget the view ${current.name}`}</Button>
      ) : now === "" ? null : (
        <form
          className={styles["groups"]}
          onSubmit={(event) => {
            event.preventDefault();
            keep(withView(views, { name, search: now }));
            setName("");
          }}
        >
          <label>
            <span className="unseen">Name of this view</span>
            <input
              required
              maxLength={40}
              placeholder="Name of this view"
              className={styles["input"]}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          </label>
          <Button type="submit">Save the view</Button>
        </form>
      )}
    </div>
  );
}
