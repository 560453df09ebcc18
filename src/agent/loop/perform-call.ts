// One tool call, from the model's arguments to the text that the model reads.
import { syncDiskOf } from '../../disk/sync-disk.ts';
import { shownOutput } from './kept-output.ts';
import type { ToolCall, ToolResult } from '../port/protocol.ts';
import { type Channel, untilHalted } from '../port/signals.ts';
import { wordsOfFailure } from './tool-failure.ts';
import type { Tool } from '../port/tool.ts';
import type { Run } from './run.ts';

/** A call that a model asks for. */
export interface Asked {
  /** The tools that the run has. */
  readonly tools: readonly Tool[];
  readonly call: ToolCall;
  /** Why the arguments could not be read; undefined when they could. */
  readonly fault: string | undefined;
  /** Characters of the results that earlier calls of the same reply got. */
  readonly shownBefore?: number;
}

/** What calls need from their run. */
export type Performing = Pick<Run, 'brief' | 'workspace' | 'callPrefix' | 'argumentFaults'> & {
  readonly channel: Pick<Channel, 'request' | 'halt'>;
};

/** Executes one call. Every failure becomes its result; rejects only when the run is stopped. */
export async function performCall(run: Performing, asked: Asked): Promise<ToolResult> {
  const { brief, channel, callPrefix = '' } = run;
  const { signal } = channel.halt;
  const { call, shownBefore = 0 } = asked;
  const tool = findTool(asked);
  const refusal = refusalOf(run, asked);
  if (refusal !== undefined) return { ok: false, output: refusal };
  if (tool?.kind !== 'executes') throw new Error(`Calls of "${call.name}" are not executed.`);
  const { workspace, workspaceOwner, sandbox, space, egress } = brief;
  const callId = `${callPrefix}${call.id}`;
  const shown = (output: string) =>
    shownOutput(output, { workspace, owner: workspaceOwner, callId, model: brief.model, shownBefore });
  try {
    if (tool.readsOnly !== true) await run.workspace.prepare();
    // A tool that ignores its signal is abandoned, so that a stop takes effect.
    const execution = tool.execute(call.input, {
      workspace,
      workspaceOwner,
      sandbox,
      space,
      skills: brief.equipment.skills,
      egress,
      readDocument: (file) => channel.request('read_document', file),
      callId,
      signal,
    });
    run.workspace.begun(execution);
    const result = await untilHalted(execution, channel.halt);
    const reported = { ok: result.ok, output: await shown(result.output) };
    // Sync before the commit: the journal must not list files that a power failure has emptied.
    if (tool.writes === true && !(await syncDiskOf(workspace))) throw new Error(NOT_SYNCED);
    return reported;
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, output: await shown(`The tool failed: ${wordsOfFailure(error, workspace)}`) };
  }
}

const NOT_SYNCED = 'what it may have written is not on the disk yet. Check before you continue.';

/** The tool that a call names. */
export const findTool = ({ tools, call }: Pick<Asked, 'tools' | 'call'>) =>
  tools.find(({ name }) => name === call.name);

/** Why a call can't be executed at all, in words for the model; undefined when it can. */
export function refusalOf(run: Pick<Run, 'argumentFaults'>, asked: Asked): string | undefined {
  const tool = findTool(asked);
  if (tool === undefined) return unknownTool(asked);
  return asked.fault ?? refused(tool, run.argumentFaults(tool, asked.call.input));
}

function unknownTool({ tools, call }: Asked): string {
  const known = tools.map(({ name }) => name).join(', ');
  const names = known === '' ? 'This run has no tools.' : `The tools are: ${known}.`;
  return `There is no tool named "${call.name}". ${names}`;
}

function refused({ name }: Tool, faults: readonly string[]): string | undefined {
  if (faults.length === 0) return undefined;
  return `The arguments do not fit the schema of "${name}": ${faults.join('; ')}. The tool did not run.`;
}
