// The brief: everything a worker needs to know of a run, gathered from store, catalog and settings.
import { defaultInstructions } from '../agent/prompt.ts';
import {
  type Brief,
  type ModelGrant,
  NO_EQUIPMENT,
  type RecordedStep,
  type RunLimits,
  type SandboxGrant,
  type Turn,
} from '../agent/protocol.ts';
import { toolNamesFor } from '../agent/tools/all-tools.ts';
import type { Catalog, CatalogModel, Endpoint } from '../catalog/models.ts';
import type { Clock } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';
import type { Workspaces } from '../files/workspaces.ts';
import type { ClaimedRun } from '../store/claim-runs.ts';
import type { Store } from '../store/open-store.ts';
import type { StoredStep, StoredTurn } from '../store/turns.ts';

export interface BriefParts {
  readonly store: Store;
  readonly workspaces: Workspaces;
  /** What the sandbox probe found; null when there is no sandbox. */
  sandbox(): SandboxGrant | null;
  readonly clock: Clock;
}

export interface ResolvedModel {
  readonly model: CatalogModel;
  readonly endpoint: Endpoint;
}

/** The model of a name with its endpoint, or undefined when the catalog has it no more. */
export function resolveModel(catalog: Catalog, name: string | null): ResolvedModel | undefined {
  const model = name === null ? undefined : catalog.models.get(name);
  const endpoint = model === undefined ? undefined : catalog.endpoints.get(model.endpoint);
  return model === undefined || endpoint === undefined ? undefined : { model, endpoint };
}

/** Builds the brief of a claimed run and lays its attachments into the workspace. */
export async function buildBrief(
  { store, workspaces, sandbox, clock }: BriefParts,
  run: ClaimedRun,
  { model, endpoint }: ResolvedModel,
  settings: Settings,
): Promise<Brief> {
  const turn = await store.turns.get(run.seq, run.attempt);
  if (turn.attachments.length > 0) await workspaces.layUploads(run.sessionId, turn.attachments);
  // A token is rarely less than two characters; the worker makes the finer choice.
  const history = run.opensSession
    ? []
    : await store.turns.listBefore(run.sessionSeq, run.seq, model.contextWindow * 6);
  const grant = settings.shell.enabled ? sandbox() : null;
  return {
    runId: run.id,
    sessionId: run.sessionId,
    attempt: run.attempt,
    workspace: workspaces.pathOf(run.sessionId),
    workspaceOwner: workspaces.owner,
    model: grantModel(model, endpoint),
    instructions: defaultInstructions(),
    compaction: null,
    history: history.map(toTurn),
    turn: toTurn(turn),
    texts: {},
    outputSchema: run.outputSchema,
    tools: toolNamesFor({ sandbox: grant !== null }),
    equipment: NO_EQUIPMENT,
    answers: {},
    egress: [],
    sandbox: grant === null ? null : withShellLimits(grant, settings),
    limits: limitsOf(run, settings, clock.now()),
    nextBlockIndex: run.attempt > 1 ? await store.turns.nextBlockIndex(run.seq) : 0,
    depth: 0,
  };
}

function grantModel(model: CatalogModel, endpoint: Endpoint): ModelGrant {
  return {
    name: model.name,
    kind: endpoint.kind,
    baseUrl: endpoint.baseUrl,
    apiKey: endpoint.apiKey,
    model: model.model,
    contextWindow: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
    images: model.images,
    metered: endpoint.maxInFlight !== null,
  };
}

function withShellLimits(grant: SandboxGrant, { shell }: Settings): SandboxGrant {
  return {
    ...grant,
    timeoutMs: shell.timeoutSeconds * 1_000,
    maxOutputBytes: shell.maxOutputKb * 1_024,
    memoryBytes: shell.memoryMb * 1_048_576,
    maxProcesses: shell.maxProcesses,
  };
}

function limitsOf(run: ClaimedRun, { model }: Settings, now: number): RunLimits {
  const spentMs = Math.max(0, now - (run.startedAt ?? now));
  return {
    connectTimeoutMs: model.connectTimeoutSeconds * 1_000,
    firstTokenTimeoutMs: model.firstTokenTimeoutSeconds * 1_000,
    idleTimeoutMs: model.idleTimeoutSeconds * 1_000,
    runTimeoutMs: Math.max(1, model.runTimeoutSeconds * 1_000 - spentMs),
    maxSteps: model.maxSteps,
  };
}

function toTurn({ user, attachments, steps }: StoredTurn): Turn {
  return { user, attachments, steps: steps.map(toRecordedStep) };
}

function toRecordedStep({ step, kind, message, text, usage, calls }: StoredStep): RecordedStep {
  return {
    step,
    kind: kind as RecordedStep['kind'],
    message,
    text,
    usage,
    calls: calls.map(({ id, name, input, state, ok, output }) => ({
      id,
      name,
      input,
      state:
        state === 'ended'
          ? { kind: 'ended', result: { ok, output } }
          : { kind: state === 'running' ? 'unknown' : 'waiting' },
    })),
  };
}
