// The brief: everything a worker needs to know of a run, from the store, the catalog and the settings.
import type { SandboxGrant } from '../../agent/port/grants.ts';
import type { Announced, Brief, RecordedStep, RunLimits, Turn } from '../../agent/port/protocol.ts';
import { ownerFor } from '../../agent/sandbox/users.ts';
import { toolNamesFor } from '../../agent/tools/tool-names.ts';
import { megabytes, type SpaceLimits } from '../../disk/disk-space.ts';
import { KB, MB } from '../../domain/byte-units.ts';
import type { Halt } from '../../domain/halt.ts';
import type { RunError } from '../../domain/sessions/run.ts';
import type { Settings } from '../../domain/settings.ts';
import { waysNow } from '../../outbound/ways/ways.ts';
import type { Workspaces } from '../../files/workspaces.ts';
import type { ClaimedRun } from '../../store/lifecycle/start-run.ts';
import type { Store } from '../../store/open-store.ts';
import type { WorkspaceNote } from '../../store/artifacts/workspace-notes.ts';
import type { StoredStep, StoredTurn } from '../../store/sessions/stored-turn.ts';
import { answersOf } from './answers.ts';
import type { Equip } from './equip.ts';
import { briefBytes } from './brief-room.ts';
import { historyOf } from './history.ts';
import type { Documents } from './read-documents.ts';
import { grantModel, type ResolvedModel } from './resolve-model.ts';

export interface BriefParts {
  readonly store: Pick<Store, 'turns' | 'compactions' | 'userInputs' | 'durable'> & {
    readonly artifacts: Pick<Store['artifacts'], 'listWorkspaceNotes'>;
  };
  readonly workspaces: Pick<Workspaces, 'owner' | 'pathOf' | 'placeUploads'>;
  /** Result of the sandbox probe; null without a sandbox. */
  sandbox(): SandboxGrant | null;
  readonly documents: Documents;
  readonly equip: Equip;
  settings(): Settings;
}

/** A brief, or the reason why the run fails without one. */
export type BuiltBrief =
  | { readonly ok: true; readonly brief: Brief }
  | { readonly ok: false; readonly error: RunError };

/** What a run is built for. */
export interface BriefFor {
  readonly model: ResolvedModel;
  /** Whether agents of its session were told of a workspace that was laid out anew. */
  readonly hasNotes: boolean;
  /** Of its calls. */
  readonly announces: Announced;
  /** Comes when the run is called off: then nothing is read for it any more. */
  readonly off: Halt;
}

/** Builds the brief of a claimed run and writes its attachments into the workspace. */
export type BuildBrief = (run: ClaimedRun, given: BriefFor) => Promise<BuiltBrief>;

/** Makes the builder. Each brief uses the settings that are current when it is built. */
export function makeBuildBrief(parts: BriefParts): BuildBrief {
  return (run, given) => build(parts, parts.settings(), run, given);
}

async function build(
  { store, workspaces, sandbox, documents, equip }: BriefParts,
  settings: Settings,
  run: ClaimedRun,
  { model: resolved, hasNotes, announces, off }: BriefFor,
): Promise<BuiltBrief> {
  // MCP servers and the browser get their sandbox even without a shell tool.
  const grant = sandbox();
  const equipped = await equip(run, toolNamesFor({ sandbox: settings.shell.enabled && grant !== null }));
  if (!equipped.ok) return equipped;
  const { instructions, tools, equipment } = equipped.outfit;
  const turn = freshTurnOf(run) ?? (await store.turns.get(run.seq, run.attempt));
  const space = spaceOf(settings);
  const owner = ownerFor(workspaces.owner, run.userSeq);
  // A power failure must not leave a workspace without a session. Such servers work there from the start.
  if (turn.attachments.length > 0 || equipment.mcp.some(({ transport }) => transport.kind === 'stdio'))
    await store.durable();
  if (turn.attachments.length > 0) {
    const placed = await workspaces.placeUploads(run.sessionId, turn.attachments, {
      quotaBytes: space.quotaBytes,
      hasBegun: turn.steps.length > 0,
      owner,
    });
    if (!placed) return { ok: false, error: noRoom(space) };
  }
  // A token is rarely shorter than two characters; the worker selects more precisely.
  const room = {
    characters: resolved.model.contextWindow * 6,
    bytesFor: (own: number) => briefBytes(own, settings.workers),
  };
  const history = await historyOf(store, run, room);
  const notes = hasNotes ? await store.artifacts.listWorkspaceNotes(run.sessionSeq) : [];
  const newestFirst = [...history.turns, turn].toReversed().flatMap(({ attachments }) => attachments);
  const brief: Brief = {
    runId: run.id,
    sessionId: run.sessionId,
    attempt: run.attempt,
    workspace: workspaces.pathOf(run.sessionId),
    workspaceOwner: owner,
    announces,
    model: grantModel(resolved),
    instructions,
    compaction: history.compaction,
    history: history.turns.map((one) => withNotes(one, notes, 0)),
    historyIsCut: history.isCut,
    turn: withNotes(turn, notes, history.compaction?.step ?? 0),
    texts: await documents.textsOf(newestFirst, { userSeq: run.userSeq, off }),
    outputSchema: run.outputSchema,
    tools,
    equipment,
    connectorToken: null,
    answers: run.attempt > 1 ? answersOf(await store.userInputs.listSettled(run.seq)) : {},
    egress: settings.egress.allow,
    ways: waysNow(),
    sandbox: grant === null ? null : { ...withShellLimits(grant, settings), owner },
    space,
    limits: limitsOf(run, settings),
    nextBlockIndex: run.attempt > 1 ? await store.turns.nextBlockIndex(run.seq) : 0,
    depth: 0,
  };
  return { ok: true, brief };
}

function freshTurnOf({ seq, fresh }: ClaimedRun): StoredTurn | undefined {
  return fresh && { runSeq: seq, user: fresh.user, attachments: [], steps: [] };
}

function withShellLimits(grant: SandboxGrant, settings: Settings): SandboxGrant {
  const { shell } = settings;
  return {
    ...grant,
    timeoutMs: shell.timeoutSeconds * 1_000,
    maxOutputBytes: shell.maxOutputKb * KB,
    memoryBytes: shell.memoryMb * MB,
    maxProcesses: shell.maxProcesses,
    space: spaceOf(settings),
  };
}

function noRoom({ quotaBytes }: SpaceLimits): RunError {
  const message = `The session's files would exceed their limit of ${megabytes(quotaBytes)} MB. Ask it to remove some, then attach these again.`;
  return { type: 'api_error', message, retryable: false };
}

function spaceOf({ workspace, disk }: Settings): SpaceLimits {
  return { quotaBytes: workspace.quotaMb * MB, keepFreeBytes: disk.keepFreeMb * MB };
}

/** A wrong address is refused for ever; a server that starts beside the daemon takes some seconds. */
const UNPROVEN_PATIENCE_MS = 10_000;

/** A resumed run gets what its earlier attempts have left of its time. */
function limitsOf(run: ClaimedRun, { model, background }: Settings): RunLimits {
  return {
    connectTimeoutMs: model.connectTimeoutSeconds * 1_000,
    firstTokenTimeoutMs: model.firstTokenTimeoutSeconds * 1_000,
    idleTimeoutMs: model.idleTimeoutSeconds * 1_000,
    runTimeoutMs: Math.max(1, model.runTimeoutSeconds * 1_000 - run.workedMs),
    maxSteps: model.maxSteps,
    maxReplyBytes: model.maxReplyMb * MB,
    patienceMs: (run.isBackgroundWork ? background.modelPatienceSeconds : model.patienceSeconds) * 1_000,
    unprovenPatienceMs: UNPROVEN_PATIENCE_MS,
  };
}

/** `covered`: up to this step, a summary replaces what the turn has, and has read what was noted before it. */
function withNotes(stored: StoredTurn, all: readonly WorkspaceNote[], covered: number): Turn {
  const turn = { user: stored.user, attachments: stored.attachments, steps: stored.steps.map(toRecordedStep) };
  const own = all.filter(({ runSeq, step }) => runSeq === stored.runSeq && step >= covered);
  if (own.length === 0) return turn;
  // Where no result can carry it, the request does.
  const carries = (step: number) =>
    step > covered && turn.steps.some((one) => one.step === step && one.calls.length > 0);
  const notes = own.map(({ step, text }) => ({ step: carries(step) ? step : 0, text })).toReversed();
  return { ...turn, notes };
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
