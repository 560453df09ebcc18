// What the model was asked in a run, to ask it again elsewhere: its conversation with its files, what it was asked with,
// and the schema, without secrets.
import { TOOLS } from '../../../agent/tools/all-tools.ts';
import type { Catalog } from '../../../catalog/kinds/models.ts';
import { MB } from '../../../domain/byte-units.ts';
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import type { Portion } from '../../../domain/portions.ts';
import type { Pause, Slices } from '../../../domain/loop/slices.ts';
import type { SetupText, ToolDefinition } from '../../../domain/sessions/run-setup.ts';
import { type Administrator, ownerOf } from '../../../domain/people/user.ts';
import { ErrandError } from '../../../domain/errors.ts';
import type { Equip } from '../../../execution/brief/equip.ts';
import { type Blot, makeBlot } from '../../../outbound/secrets/blot.ts';
import type { Store } from '../../../store/open-store.ts';
import type { StoredSetup } from '../../../store/runs/run-setups.ts';
import type { RunRecord } from '../../../store/runs/run-records.ts';
import { saidTogether, type StoredStep, type StoredTurn } from '../../../store/sessions/stored-turn.ts';
import { readTimeline } from '../../../store/runs/run-timeline.ts';
import { stepsOf } from '../../sessions/history.ts';
import { type ChatMessage, stepMessagesOf, userMessageOf } from './chat-messages.ts';
import { explain, type Explanation, type ExplainParts } from '../explain.ts';
import { type ExportedFile, type FileParts, filesOf } from './exported-files.ts';
import { heldSecrets, type HeldSecretParts, secretsOfEverybody } from './held-secrets.ts';

export interface ExportParts
  extends ExplainParts,
    Omit<HeldSecretParts, 'store' | 'catalog'>,
    Pick<FileParts, 'blobs'> {
  readonly store: Pick<Store, 'runs' | 'turns' | 'history' | 'connections' | 'webhooks' | 'documents'>;
  readonly slices: Slices;
  /** What a run would get today. */
  equip(run: Parameters<Equip>[0]): ReturnType<Equip>;
  catalog(): Pick<Catalog, 'endpoints' | 'models'>;
}

/** What a run's model was asked with from a step on. `isRecorded`: otherwise it is what the agent would get today. */
export interface ExportedSetup extends SetupText {
  readonly step: number;
  readonly isRecorded: boolean;
}

/** A run with what its model was asked. All texts are without secrets. */
export interface RunExport extends Explanation {
  /** In order; none when nothing was recorded and the agent is gone. */
  readonly setups: readonly ExportedSetup[];
  readonly outputSchema: JsonObject | null;
  /** Null when it is gone. */
  readonly model: { readonly name: string; readonly endpoint: string; readonly kind: string } | null;
  readonly conversation: readonly ChatMessage[];
  readonly files: readonly ExportedFile[];
  /** Each step of the run, and how many messages of the conversation its request had. */
  readonly requests: readonly { readonly step: number; readonly messages: number }[];
  /** Whether turns before those of the conversation are left out. */
  readonly isCut: boolean;
}

/** Maximum bytes of the conversation, as stored. The oldest turns are left out first; the run's own is never cut. */
const MAX_BYTES = 16 * MB;

/**
 * The verb. An export is held whole, so it is read when there is room for the largest. Throws as `Access.run` does, and
 * `too_large` for a run whose own turn is more than an export takes.
 */
export function makeExportRun(parts: ExportParts) {
  const { store, auditedAccess, slices } = parts;
  return async (caller: Administrator, id: string): Promise<Portion<RunExport>> => {
    const run = await auditedAccess.run(caller, id);
    const own = await store.turns.bytesOf({ sessionSeq: run.sessionSeq, seq: run.seq, documentBytes: 0 });
    if (own > MAX_BYTES) throw new ErrandError('too_large', 'The run has more than 16 MB: an export takes no more.');
    const pause = slices.of(ownerOf(caller));
    return { bytes: MAX_BYTES, read: async () => [await exported(parts, { run, left: MAX_BYTES - own, pause })] };
  };
}

interface Wanted {
  readonly run: RunRecord;
  /** Bytes that earlier turns may have. */
  readonly left: number;
  readonly pause: Pause;
}

async function exported(parts: ExportParts, { run, left, pause }: Wanted): Promise<RunExport> {
  const { store, clock } = parts;
  const budget = { characters: left, bytes: left, documentBytes: 0 };
  const earlier = await store.turns.listBefore(run.sessionSeq, run.seq, budget);
  const turn = await ownTurn(store, run.seq, pause);
  const { outputSchema, setups } = await store.turns.getAskedWith(run.seq);
  const blot = makeBlot(await heldSecrets(parts, run.userSeq), await secretsOfEverybody(parts, pause));
  const messages = earlier.turns.flatMap((one) => [userMessageOf(one), ...one.steps.flatMap(stepMessagesOf)]);
  messages.push(userMessageOf(turn));
  const steps = turn.steps.map((step) => {
    const asked = { step: step.step, messages: messages.length };
    messages.push(...stepMessagesOf(step));
    return asked;
  });
  const explained = explain(run, await readTimeline(store.runs, run, pause), clock.now());
  const error = run.error === null ? null : { ...run.error, message: blot(run.error.message) };
  return {
    ...explained,
    run: { ...run, error },
    setups: setups.length > 0 ? setupsOf(setups, blot) : await setupOfToday(parts, run, blot),
    outputSchema: blotted(outputSchema, blot) as JsonObject | null,
    model: modelOf(parts.catalog(), run.model),
    conversation: await withoutSecrets(messages, blot, pause),
    files: await filesOf(parts, [...earlier.turns, turn], blot, pause),
    requests: steps,
    isCut: earlier.isCut,
  };
}

/** The run's own turn, its steps in portions. */
async function ownTurn({ turns, history }: ExportParts['store'], runSeq: number, pause: Pause): Promise<StoredTurn> {
  const steps: StoredStep[] = [];
  for await (const group of stepsOf(history, runSeq)) {
    steps.push(...(await turns.listSteps(runSeq, group[0]!.step, group.at(-1)!.step)));
    await pause();
  }
  return { ...(await turns.get(runSeq, 1)), steps: saidTogether(steps) };
}

function setupsOf(stored: readonly StoredSetup[], blot: Blot): ExportedSetup[] {
  const changes = stored.filter(({ seq }, at) => seq !== stored[at - 1]?.seq);
  return changes.map(({ step, text }) => {
    const { system, tools, omitted } = JSON.parse(text) as SetupText;
    return {
      step,
      isRecorded: true,
      system: blot(system),
      tools: tools.map((tool) => toolWithout(tool, blot)),
      omitted,
    };
  });
}

function toolWithout({ name, description, schema }: ToolDefinition, blot: Blot): ToolDefinition {
  return { name, description: blot(description), schema: blotted(schema, blot) as JsonObject };
}

/** The built-in tools only: what servers offer is known when they are asked. */
async function setupOfToday({ equip }: ExportParts, run: Parameters<Equip>[0], blot: Blot): Promise<ExportedSetup[]> {
  const equipped = await equip(run);
  if (!equipped.ok) return [];
  const { instructions, tools: names } = equipped.outfit;
  const tools = TOOLS.filter(({ name }) => names.includes(name));
  const definitions = tools.map(({ name, description, inputSchema: schema }) => ({ name, description, schema }));
  return [{ step: 1, isRecorded: false, system: blot(instructions), tools: definitions, omitted: [] }];
}

function modelOf({ models, endpoints }: Pick<Catalog, 'models' | 'endpoints'>, name: string | null) {
  const model = name === null ? undefined : models.get(name);
  const kind = model && endpoints.get(model.endpoint)?.kind;
  return model === undefined || kind === undefined ? null : { name: model.name, endpoint: model.endpoint, kind };
}

async function withoutSecrets(messages: readonly ChatMessage[], blot: Blot, pause: Pause): Promise<ChatMessage[]> {
  const blottedOnes: ChatMessage[] = [];
  for (const message of messages) {
    blottedOnes.push(messageWithout(message, blot));
    await pause();
  }
  return blottedOnes;
}

function messageWithout(message: ChatMessage, blot: Blot): ChatMessage {
  if (message.role !== 'assistant') return { ...message, content: blot(message.content) };
  const calls = message.calls.map((call) => ({ ...call, input: blot(call.input) }));
  return { ...message, content: message.content === null ? null : blot(message.content), calls };
}

function blotted(value: JsonValue, blot: Blot): JsonValue {
  if (typeof value === 'string') return blot(value);
  if (Array.isArray(value)) return value.map((one) => blotted(one, blot));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, blotted(one, blot)]));
}
