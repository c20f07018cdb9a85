import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { makeQueryClient } from "./api/query-client.ts";
import { Dashboard } from "./app/dashboard.tsx";
import { applyDensity } from "./ui/density.ts";
import "./theme.css";

applyDensity();
const root = document.getElementById("root");
if (root === null) throw new Error("the page has no place for the dashboard");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={makeQueryClient()}>
      <Dashboard />
    </QueryClientProvider>
  </StrictMode>,
);
