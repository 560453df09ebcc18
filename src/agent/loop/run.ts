// A run of an agent: its brief, its channel to the main thread, and its tools.
import type { ArgumentCheck } from './argument-check.ts';
import type { RetryPolicy } from '../models/retries.ts';
import type { Brief } from '../port/protocol.ts';
import type { Channel } from '../port/signals.ts';
import type { OpenedTools, Tool } from '../tools/tool.ts';
import type { RunWorkspace } from './run-workspace.ts';

export interface Run {
  readonly brief: Brief;
  readonly channel: Channel;
  readonly workspace: RunWorkspace;
  /** Where its tools come from, in the order in which the model sees them. */
  readonly packs: readonly ToolPack[];
  readonly retryPolicy: RetryPolicy;
  /** Made for the run, and shared with its sub-agents. */
  readonly argumentFaults: ArgumentCheck;
  /** Prefix of a sub-agent's call ids, which makes them unique in the run; absent for the run's own agent. */
  readonly callPrefix?: string;
}

/** Makes some of a run's tools. Reports in a note what can't be opened; rejects only when the run is stopped. */
export type ToolPack = (run: Run) => Promise<OpenedTools>;

/** Opens all packs concurrently. Of two tools with the same name, the first wins. */
export async function openTools(run: Run): Promise<OpenedTools> {
  const settled = await Promise.allSettled(run.packs.map((pack) => pack(run)));
  const opened = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async () => {
    await Promise.allSettled(opened.map((one) => one.close()));
  };
  const failure = settled.find((one) => one.status === 'rejected');
  if (failure !== undefined) {
    await close();
    throw failure.reason;
  }
  const tools = new Map<string, Tool>();
  for (const tool of opened.flatMap((one) => one.tools)) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  return { tools: [...tools.values()], notes: opened.flatMap(({ notes }) => notes), close };
}
