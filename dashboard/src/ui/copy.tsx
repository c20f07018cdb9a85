import { useState } from "react";
import { Button } from "./button.tsx";

/** Takes a text along. @param from id of the element that shows it: it is selected where the browser does not let the page copy */
export function Copy({
  text,
  from,
  label,
  look = "plain",
}: {
  text: string;
  from: string;
  label: string;
  look?: "plain" | "main" | "quiet";
}) {
  const [said, setSaid] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid("Copied.");
    } catch {
      getSelection()?.selectAllChildren(document.getElementById(from)!);
      setSaid("The browser does not let the page copy: it is selected, copy it yourself.");
    }
  };
  return (
    <>
      <Button look={look} onPress={() => void copy()}>
        {label}
      </Button>
      <span role="status">{said}</span>
    </>
  );
}
