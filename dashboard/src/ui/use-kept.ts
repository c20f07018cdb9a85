import { useEffect, useState } from "react";

/** State that outlives the way to Keycloak and back, in this tab alone. What is secret is never kept so. */
export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const kept = sessionStorage.getItem(name);
    return kept === null ? initial : (JSON.parse(kept) as T);
  });
  useEffect(() => {
    sessionStorage.setItem(name, JSON.stringify(value));
  }, [name, value]);
  return [value, setValue];
}
