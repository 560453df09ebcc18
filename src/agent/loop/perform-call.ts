// One tool call, from the model's arguments to the words the model reads.
import { Ajv, type ValidateFunction } from 'ajv';
import { makeRoot } from '../../disk/beneath.ts';
import type { JsonObject } from '../../domain/json.ts';
import { syncDiskOf } from '../../disk/sync-disk.ts';
import { shownOutput } from './kept-output.ts';
import type { Brief, ToolCall, ToolResult } from '../port/protocol.ts';
import { untilAborted } from '../port/signals.ts';
import { wordsOfFailure } from './tool-failure.ts';
import type { Tool, ToolContext } from '../tools/tool.ts';

const MAX_SCHEMA_FAULTS = 10;

/** What the model is told of a call that had begun when the daemon died (D7). */
export const INTERRUPTED: ToolResult = {
  ok: false,
  output: 'Interrupted, outcome unknown. The call may have had an effect.',
};

export interface Performing {
  readonly brief: Brief;
  /** The tools that the run has. */
  readonly tools: readonly Tool[];
  readonly call: ToolCall;
  /** What stands before the call's id to make it unique in the run, see `Run`. */
  readonly callPrefix?: string;
  /** What was wrong with the arguments as the model sent them, when they could not be read. */
  readonly fault: string | undefined;
  readonly readDocument: ToolContext['readDocument'];
  readonly signal: AbortSignal;
}

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
/** Compiled schemas of this thread, by the schema object itself. */
const validators = new WeakMap<JsonObject, ValidateFunction>();

/** Runs one call. Whatever goes wrong in it is the result's business; rejects only when the run is stopped. */
export async function performCall(performing: Performing): Promise<ToolResult> {
  const { brief, call, signal } = performing;
  const tool = findTool(performing);
  const refusal = refusalOf(performing);
  if (tool === undefined || refusal !== undefined) return { ok: false, output: refusal ?? '' };
  const { workspace, workspaceOwner, sandbox, space, egress } = brief;
  const callId = `${performing.callPrefix ?? ''}${call.id}`;
  const shown = (output: string) =>
    shownOutput(output, { workspace, owner: workspaceOwner, callId, model: brief.model });
  const { skills } = brief.equipment;
  try {
    await prepareWorkspace(brief);
    // A tool that ignores its signal is left behind, so that a stop is a stop.
    const execution = tool.execute(call.input, {
      workspace,
      workspaceOwner,
      sandbox,
      space,
      skills,
      egress,
      readDocument: performing.readDocument,
      callId,
      signal,
    });
    noteExecution(brief, execution);
    const result = await untilAborted(execution, signal);
    const told = { ok: result.ok, output: await shown(result.output) };
    // Before it is committed: the journal must not tell of files that a power cut has emptied.
    if (tool.writes === true && !(await syncDiskOf(workspace))) throw new Error(NOT_SYNCED);
    return told;
  } catch (error) {
    signal.throwIfAborted();
    return { ok: false, output: await shown(`The tool failed: ${wordsOfFailure(error, workspace)}`) };
  }
}

const NOT_SYNCED = 'what it may have written is not on the disk yet. Look before you go on.';

type Asked = Pick<Performing, 'tools' | 'call' | 'fault'>;

const findTool = ({ tools, call }: Asked) => tools.find(({ name }) => name === call.name);

/** Why a call can't be performed at all, in words for the model; nothing when it can. */
export function refusalOf(asked: Asked): string | undefined {
  const tool = findTool(asked);
  return tool === undefined ? unknownTool(asked) : (asked.fault ?? schemaFaults(tool, asked.call.input));
}

/** The newest execution of each run of this thread; a run performs one call at a time. */
const executions = new WeakMap<Brief, Promise<void>>();

function noteExecution(brief: Brief, execution: Promise<unknown>): void {
  const settled = execution.then(
    () => undefined,
    () => undefined,
  );
  executions.set(brief, settled);
}

/** Resolves when no tool of the run is at work any more, also none that ignored its signal and was left behind. */
export async function toolsEnded(brief: Brief): Promise<void> {
  await executions.get(brief);
}

/** The runs of this thread whose workspace is there. */
const prepared = new WeakSet<Brief>();

/** Whether a tool of the run may have changed its workspace. */
export function hasTouched(brief: Brief): boolean {
  return prepared.has(brief);
}

/** A session has no workspace before its agent first uses a tool. */
export async function prepareWorkspace(brief: Brief): Promise<void> {
  if (prepared.has(brief)) return;
  await makeRoot(brief.workspace, brief.workspaceOwner);
  prepared.add(brief);
}

function unknownTool({ tools, call }: Asked): string {
  const known = tools.map(({ name }) => name).join(', ');
  const names = known === '' ? 'This run has no tools.' : `The tools are: ${known}.`;
  return `There is no tool named "${call.name}". ${names}`;
}

/** What does not fit the tool's schema, in words for the model; nothing when all of it fits. */
function schemaFaults(tool: Tool, input: JsonObject): string | undefined {
  if (tool.check !== undefined) return refused(tool, tool.check(input));
  let validate = validators.get(tool.inputSchema);
  if (validate === undefined) {
    validate = ajv.compile(tool.inputSchema);
    validators.set(tool.inputSchema, validate);
  }
  if (validate(input)) return undefined;
  const faults = (validate.errors ?? []).slice(0, MAX_SCHEMA_FAULTS).map((fault) => {
    const extra = (fault.params as { additionalProperty?: string }).additionalProperty;
    return `${fault.instancePath || '/'} ${fault.message ?? 'does not fit'}${extra === undefined ? '' : ` (${extra})`}`;
  });
  return refused(tool, faults);
}

function refused({ name }: Tool, faults: readonly string[]): string | undefined {
  if (faults.length === 0) return undefined;
  return `The arguments do not fit the schema of "${name}": ${faults.join('; ')}. The tool did not run.`;
}
