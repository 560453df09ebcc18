// Tries one program that hands tasks over: its task is the agent's, and the answer is what it goes on with.
import assert from 'node:assert/strict';
import { type ModelServer, startModelServer } from '../../test/support/model/model-server.ts';
import type { ModelRequestBody } from '../../test/support/model/model-reply.ts';
import type { Ground } from './place.ts';
import { TASK, type ToolClient, WAYS, type Way } from './tool-clients.ts';
import { type Outcome, outcomeOf } from './trials.ts';

const ANSWER = 'Low at six.';

/** `folder`: where its packages are installed. */
export async function tryToolClient(
  client: ToolClient,
  ground: Ground,
  folder: string,
): Promise<Readonly<Record<Way, Outcome>>> {
  const ownModel = await startOwnModel();
  const outcomes = new Map<Way, Outcome>();
  for (const way of WAYS)
    outcomes.set(way, await outcomeOf(async () => handOver(client, ground, { folder, way, ownModel })));
  await ownModel.close();
  return Object.fromEntries(outcomes) as Record<Way, Outcome>;
}

async function handOver(
  client: ToolClient,
  ground: Ground,
  { folder, way, ownModel }: { readonly folder: string; readonly way: Way; readonly ownModel: ModelServer },
): Promise<void> {
  const place = await ground.makePlace('');
  const [before, had] = [place.model.requests.length, ownModel.requests.length];
  place.model.enqueue({ text: ANSWER });
  const printed = await client.handOver(place, folder, { way, ownModel: ownModel.url });
  const asked = place.model.requests.slice(before);
  assert.equal(asked.length, 1, 'the agent was not asked once');
  assert(JSON.stringify(asked[0]!.body.messages).includes(TASK), 'the agent has another task');
  assert(printed.includes(ANSWER), `the answer is not in: ${printed}`);
  const told = ownModel.requests.slice(had);
  const isTold = told.some(({ body }) => JSON.stringify(body.messages).includes(ANSWER));
  assert(told.length === 0 || isTold, 'its model was not told the answer');
}

/** Where a client names its servers' tools and gives them to its model when that asks for them. */
const FOUND_BY = 'select:mcp__errand__run_task';

/** A model that hands the task over where it has such a tool, or finds it, and repeats its answer. */
async function startOwnModel(): Promise<ModelServer> {
  const model = await startModelServer();
  model.script(({ body }) => {
    const said = JSON.stringify(body.messages);
    const tools = toolsOf(body);
    const task = tools.find((name) => name.endsWith('run_task'));
    const search = tools.find((name) => /^tool_?search$/i.test(name));
    if (said.includes(ANSWER)) return { text: ANSWER };
    if (said.includes(TASK)) return { text: 'It said nothing.' };
    const call = { name: task ?? 'mcp__errand__run_task', input: { task: TASK } };
    if (task !== undefined || said.includes(FOUND_BY)) return { tools: [call] };
    return search === undefined ? { text: 'A title' } : { tools: [{ name: search, input: { query: FOUND_BY } }] };
  });
  return model;
}

interface OfferedTool {
  readonly name?: string;
  readonly function?: { readonly name: string };
}

function toolsOf(body: ModelRequestBody): string[] {
  const offered = (body['tools'] ?? []) as readonly OfferedTool[];
  return offered.map((tool) => tool.function?.name ?? tool.name ?? '');
}
