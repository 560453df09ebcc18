// The tool with which an agent gives a task to another one and waits for its answer.
import { runLoop } from '../loop/loop.ts';
import { openWorkspace } from '../loop/run-workspace.ts';
import type { SubagentGrant } from '../port/grants.ts';
import type { Brief, Outcome, ToolResult } from '../port/protocol.ts';
import { NO_TOOLS, type Run, type ToolPack } from '../loop/run.ts';
import { openSubChannel } from '../port/sub-channel.ts';
import { nothingToClose, type ToolContext } from '../port/tool.ts';
import { defineTool, failed, inputOf, succeeded, textOf } from '../tools/workspace-tool.ts';

/** The run's own agent has depth 0; agents at this depth can't delegate. */
const MAX_DEPTH = 2;
const MAX_STEPS = 50;

/** Only for runs with sub-agents, and for agents above the maximum depth. */
export const delegation: ToolPack = (run) => {
  const { subagents } = run.brief.equipment;
  if (subagents.length === 0 || run.brief.depth >= MAX_DEPTH) return NO_TOOLS;
  const endsAt = performance.now() + run.brief.limits.runTimeoutMs;
  const list = subagents.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, ' ').trim()}`);
  const delegate = defineTool({
    name: 'delegate',
    description: `Gives a task to another agent and returns its answer. It works in the same workspace and knows nothing of this conversation: put all it needs into the task. The agents:\n${list.join('\n')}`,
    inputSchema: inputOf(
      {
        agent: { type: 'string', enum: subagents.map(({ name }) => name), description: 'Name of the agent.' },
        task: { type: 'string', minLength: 1, description: 'What it has to do, with all it needs to know.' },
      },
      ['agent', 'task'],
    ),
    async execute(input, context) {
      const agent = subagents.find(({ name }) => name === textOf(input, 'agent'))!;
      return delegateTo(run, agent, { task: textOf(input, 'task'), endsAt, context });
    },
  });
  return { tools: [delegate], notes: [], close: nothingToClose };
};

interface Delegation {
  readonly task: string;
  /** When the run's time limit ends, on the clock of `performance.now()`. */
  readonly endsAt: number;
  readonly context: ToolContext;
}

async function delegateTo(run: Run, agent: SubagentGrant, { task, endsAt, context }: Delegation): Promise<ToolResult> {
  const brief = briefOf(run.brief, agent, { task, timeoutMs: endsAt - performance.now() });
  const channel = openSubChannel(run.channel, { name: agent.name, model: brief.model.name });
  const workspace = openWorkspace(brief);
  try {
    const outcome = await runLoop({ ...run, brief, channel, workspace, callPrefix: `${context.callId}/` });
    context.signal.throwIfAborted();
    return resultOf(agent, outcome);
  } finally {
    // A tool of the sub-agent may have ignored the stop; this call lasts as long as the tool does.
    await workspace.atRest();
  }
}

/**
 * The sub-agent's brief: its own instructions, tools and equipment, the task as the user's message, nothing of the
 * conversation.
 */
function briefOf(
  above: Brief,
  agent: SubagentGrant,
  { task, timeoutMs }: { readonly task: string; readonly timeoutMs: number },
): Brief {
  const { limits, equipment } = above;
  return {
    ...above,
    model: agent.model ?? above.model,
    instructions: agent.instructions,
    compaction: null,
    history: [],
    historyIsCut: false,
    turn: { user: [{ type: 'text', text: task }], attachments: [], steps: [] },
    texts: {},
    outputSchema: null,
    tools: agent.tools,
    equipment: {
      ...agent.equipment,
      subagents: equipment.subagents.filter(({ name }) => name !== agent.name && agent.subagents.includes(name)),
    },
    answers: {},
    limits: { ...limits, runTimeoutMs: Math.max(1, timeoutMs), maxSteps: Math.min(limits.maxSteps, MAX_STEPS) },
    nextBlockIndex: 0,
    depth: above.depth + 1,
  };
}

function resultOf(agent: SubagentGrant, outcome: Outcome): ToolResult {
  if (outcome.status === 'completed') {
    const { text, stopReason } = outcome;
    const answer = text.trim() === '' ? `[The agent "${agent.name}" ended without a text answer.]` : text;
    return succeeded(
      stopReason === 'max_tokens' ? `${answer}\n[The answer was truncated because it became too long.]` : answer,
    );
  }
  const why = 'error' in outcome ? outcome.error.message : 'it could not continue.';
  return failed(`The agent "${agent.name}" failed: ${why} Its earlier changes to the workspace remain.`);
}
