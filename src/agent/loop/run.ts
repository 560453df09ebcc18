// A run of an agent: its brief, its channel to the main thread, and its tools.
import type { ArgumentCheck } from './argument-check.ts';
import type { RetryPolicy } from '../models/retries.ts';
import type { Brief } from '../port/protocol.ts';
import type { Channel } from '../port/signals.ts';
import { nothingToClose, type OpenedTools, type Tool } from '../port/tool.ts';
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
export type ToolPack = (run: Run) => OpenedTools | Promise<OpenedTools>;

/** What a pack returns that a run doesn't need. */
export const NO_TOOLS: OpenedTools = { tools: [], notes: [], close: nothingToClose };

/** Opens all packs concurrently. Of two tools with the same name, the first wins. */
export async function openTools(run: Run): Promise<OpenedTools> {
  const opening = run.packs.map((pack) => pack(run));
  // Most runs need none that takes time to open.
  const opened = opening.every(isOpened) ? opening : await openAll(opening);
  const tools = new Map<string, Tool>();
  for (const one of opened) for (const tool of one.tools) if (!tools.has(tool.name)) tools.set(tool.name, tool);
  const closing = opened.filter(({ close }) => close !== nothingToClose);
  const close = closing.length === 0 ? nothingToClose : () => closeAll(closing);
  return { tools: [...tools.values()], notes: opened.flatMap(({ notes }) => notes), close };
}

const isOpened = (one: OpenedTools | Promise<OpenedTools>): one is OpenedTools => !(one instanceof Promise);

async function openAll(opening: readonly (OpenedTools | Promise<OpenedTools>)[]): Promise<OpenedTools[]> {
  const settled = await Promise.allSettled(opening.map(async (one) => one));
  const opened = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failure = settled.find((one) => one.status === 'rejected');
  if (failure === undefined) return opened;
  await closeAll(opened);
  throw failure.reason;
}

async function closeAll(opened: readonly OpenedTools[]): Promise<void> {
  await Promise.allSettled(opened.map((one) => one.close()));
}
