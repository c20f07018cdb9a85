import { Component, type ReactNode } from "react";
import { Failure } from "../ui/notice.tsx";

/** A page that can't be shown says so, and the rest of the window stays. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return <Failure error={error} retry={() => this.setState({ error: null })} />;
  }
}
