// Accepts a turn of any protocol. After it resolves, the run survives any crash (D7).
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { UsedUp } from '../../../domain/budgets/budget.ts';
import { secondsUntilRenewal, wordsOf } from '../../../domain/budgets/decide.ts';
import { MB } from '../../../domain/byte-units.ts';
import type { Clock } from '../../../domain/clock.ts';
import { NO_CAPABILITIES } from '../../../domain/capabilities/capability-config.ts';
import { askedWords, userWords } from '../../../domain/sessions/continued/clients-words.ts';
import { newTextOf, previewOf, titleOf, type UserBlock } from '../../../domain/sessions/content.ts';
import { quotedHistory } from '../../../domain/sessions/continued/quoted-history.ts';
import { ErrandError, notFound } from '../../../domain/errors.ts';
import { overUserQuota } from '../../../domain/people/user-quota.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Contents } from '../../../domain/sessions/contents.ts';
import { schemaRefusal } from '../../../domain/schema/output-schema.ts';
import type { Protocol, Run } from '../../../domain/sessions/run.ts';
import type { SessionSetup } from '../../../domain/sessions/session.ts';
import type { KeyCaller } from '../../../domain/people/user.ts';
import type { SchemaCheck } from '../../../execution/checks/schema-check.ts';
import type { WorkerNodes } from '../../../execution/queue/node.ts';
import type { Queue } from '../../../execution/queue/queue.ts';
import type { Log } from '../../../log/log.ts';
import type { BlobHold, BlobStore } from '../../../files/blobs/blobs.ts';
import { withAllHeld } from '../../../files/blobs/with-all-held.ts';
import type { Disk } from '../../../files/disk.ts';
import type { Settings } from '../../../domain/settings.ts';
import type { Acceptance, ConversationNote, NewTurn } from '../../../store/lifecycle/accept-run.ts';
import type { BackgroundLimits, BackgroundRefusal } from '../../../store/runs/admit-background.ts';
import type { StartInput } from '../../../store/lifecycle/start-run.ts';
import type { Store } from '../../../store/open-store.ts';
import type { NewAttachment } from '../../../store/sessions/user-message.ts';
import type { Fetching } from './fetch-images.ts';
import type { Access } from '../../access.ts';
import { safeName } from './safe-name.ts';
import { makeContinuedSession } from './continued-session.ts';
import type { MakeSetup } from './session-setup.ts';
import type { AcceptedTurn, Asking, InputBlock, TurnInput } from '../turn.ts';

export interface AcceptParts {
  readonly store: Pick<Store, 'runs' | 'sessions' | 'durable'>;
  readonly access: Pick<Access, 'session' | 'response'>;
  readonly blobs: BlobStore;
  readonly disk: Disk;
  readonly queue: Pick<Queue, 'admit'>;
  readonly node: Pick<WorkerNodes, 'onlineCapacity' | 'allDrain' | 'look'>;
  settings(): Settings;
  readonly schemas: Pick<SchemaCheck, 'check'>;
  readonly fetchImages: (fetching: Fetching) => Promise<void>;
  readonly makeSetup: MakeSetup;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether the daemon is shutting down: new work is refused. */
  closing(): boolean;
}

/**
 * Makes the verb. Throws `not_found` or `forbidden` for a session that is not the key's (§1 rule 7), `not_found` for an
 * unknown stored attachment, `unprocessable` for a schema that does not compile (C14), `bad_request` or `too_large` for an
 * image that can't be fetched (§4.3), `conflict` for an idempotency key that a request in another protocol has used, and for a fork at a run that has not ended (M2),
 * `rate_limited` when a budget of the key, its user or their team is used up; `too_large` when the user is over the quota;
 * `unavailable` while the daemon or every node drains, or when its disk is almost full or refuses to write; for a background run also
 * `conflict` for a busy session, `rate_limited` over a limit, `unavailable` without a place in the queue (D2).
 */
export function makeAcceptTurn(parts: AcceptParts) {
  const { store, access, blobs, disk, schemas, fetchImages, closing } = parts;
  const continuedSession = makeContinuedSession(parts);
  return async (caller: KeyCaller, asked: TurnInput, asking: Asking): Promise<AcceptedTurn> => {
    refuseWhileDraining();
    const { quoted, historyTaken, ...place } = await continuedSession(caller, asked);
    const input = { ...asked, ...place, content: [...quotedHistory(quoted), ...asked.content] };
    const earlier = await findSubmitted(store, caller, input);
    if (earlier !== undefined) return { ...replayOf(earlier, input), historyTaken };
    refuseWithoutSpace(disk);
    if (input.outputSchema !== null) await requireSchema(schemas, input.outputSchema, input.schemaField ?? '');
    const session = input.sessionId === null ? null : await access.session(caller, input.sessionId);
    const hold = blobs.hold();
    let fresh = false;
    try {
      const kept = await storeContent({ store, blobs, hold, caller, fetchImages, asking }, input.content);
      // Assembling and storing a long text takes time, so the loop yields to other requests.
      await nextTurn();
      // Fetching may have taken a long time.
      refuseWhileDraining();
      const { traceParent = null } = asking;
      const found = { sessionSeq: session?.seq ?? null };
      const turn = await admit(parts, caller, { ...input, traceParent, ...found }, kept);
      fresh = !turn.replayed;
      return { ...turn, historyTaken };
    } finally {
      const keys = hold.release();
      // Neither a refused nor a repeated request leaves a file behind (A1).
      if (!fresh) for (const key of keys) await blobs.removeUnless(key, store.sessions.isBlobInUse);
    }
  };

  function refuseWhileDraining(): void {
    if (closing()) throw new ErrandError('unavailable', 'The server is restarting.');
  }
}

/** Has the queue admit a turn whose attachments are kept. */
async function admit(
  parts: AcceptParts,
  caller: KeyCaller,
  input: TurnInput &
    Pick<NewTurn, 'sessionSeq' | 'traceParent' | 'afterRunSeq'> & { readonly note?: ConversationNote | undefined },
  kept: KeptContent,
): Promise<AcceptedTurn> {
  const { store, queue, settings, makeSetup, clock } = parts;
  // Another one may take turns again since the last look.
  if (parts.node.allDrain()) await parts.node.look();
  const setup = input.sessionId === null ? await makeSetup(caller.key) : NOT_OPENED;
  const userQuotaBytes = settings().workspace.userQuotaMb * MB;
  const turn: Omit<NewTurn, 'start'> = {
    user: caller.user,
    key: caller.key,
    protocol: input.protocol,
    requestedModel: input.model,
    includeUsage: input.includeUsage,
    traceParent: input.traceParent ?? null,
    response: input.response,
    outputSchema: input.outputSchema,
    resultInContent: input.resultInContent,
    resultTool: input.resultTool,
    sessionId: input.sessionId,
    sessionSeq: input.sessionSeq,
    afterRunSeq: input.afterRunSeq ?? null,
    idempotencyKey: input.idempotencyKey,
    ...(input.note !== undefined && { conversation: input.note }),
    setup,
    ...kept,
    ...namesOf(kept),
    userQuotaBytes,
    ...limitsOf(parts, input),
  };
  const accept = (start: StartInput | null) => store.runs.accept({ ...turn, start });
  const acceptance = await (input.background === null ? queue.admit(accept) : accept(null));
  // The run may have begun meanwhile.
  await store.durable();
  if (!('run' in acceptance)) throw refusalOf(acceptance, { userQuotaBytes, now: clock.now() });
  return acceptance.kind === 'replayed' ? replayOf(acceptance.run, input) : { run: acceptance.run, replayed: false };
}

/** What the nodes leave room for (§8). */
function limitsOf(
  { settings, node }: AcceptParts,
  { background }: TurnInput,
): Pick<NewTurn, 'allDrain' | 'background'> {
  const limits: BackgroundLimits = { ...settings().background, capacity: node.onlineCapacity() };
  return { allDrain: node.allDrain(), background: background && { ...background, limits } };
}

/** The rest is reserved for the runs in progress. */
function refuseWithoutSpace(disk: Disk): void {
  const shortage = disk.shortage();
  if (shortage !== null) throw new ErrandError('unavailable', shortage.words);
}

type Refused = Exclude<Acceptance, { readonly run: Run }>;

function refusalOf(refused: Refused, { userQuotaBytes, now }: { userQuotaBytes: number; now: number }): ErrandError {
  if (refused.kind === 'over_quota') return overUserQuota(refused.usedBytes, userQuotaBytes);
  return refused.kind === 'over_budget' ? overBudget(refused.budget, now) : REFUSALS[refused.kind]();
}

/** With when it may be tried again: by a person or a timer, since that can be weeks away. */
function overBudget(budget: UsedUp, now: number): ErrandError {
  const retryAfterSeconds = secondsUntilRenewal(budget, now);
  return new ErrandError('rate_limited', wordsOf(budget), { details: { retryAfterSeconds, noRetry: true } });
}

/** An existing session has its own. */
const NOT_OPENED: SessionSetup = { target: 'free', capabilityConfig: NO_CAPABILITIES, orchestration: null };

const REFUSALS: Readonly<Record<'session_gone' | 'unfinished' | 'all_drain' | BackgroundRefusal, () => ErrandError>> = {
  session_gone: () => notFound('Session'),
  unfinished: () => new ErrandError('conflict', 'The session has gone on behind that run, which has not ended.'),
  session_busy: () => new ErrandError('conflict', 'The session has an unfinished run.'),
  key_limit: () => new ErrandError('rate_limited', 'This API key has too many unfinished background runs.'),
  user_limit: () => new ErrandError('rate_limited', 'This user has too many unfinished background runs.'),
  all_drain: () => new ErrandError('unavailable', 'No worker accepts new runs: every node drains.'),
  no_capacity: () => new ErrandError('unavailable', 'No worker is there to execute background runs.'),
  queue_full: () => new ErrandError('unavailable', 'The queue of background runs is full.'),
};

/**
 * A repeated background submission finds its run whatever the rest of its body says: bodies are not compared (§4.3 rule 3).
 * For other requests the accepting transaction finds it; here only where images would be fetched a second time.
 */
async function findSubmitted(store: Pick<Store, 'runs'>, { user, key }: KeyCaller, input: TurnInput) {
  const { sessionId, idempotencyKey, background, content } = input;
  if (idempotencyKey === null) return undefined;
  if (background !== null) return store.runs.findBackground(key.seq, idempotencyKey);
  if (!content.some(({ type }) => type === 'address')) return undefined;
  return store.runs.findSubmitted({ user, key, sessionId, idempotencyKey, background });
}

/** The run that an earlier request made. A run has one protocol, and a request in another can't join it. */
function replayOf(run: Run, { protocol }: TurnInput): AcceptedTurn {
  if (run.protocol === protocol) return { run, replayed: true };
  const endpoint = ENDPOINTS[run.protocol];
  throw new ErrandError('conflict', `This idempotency key belongs to a request of the ${endpoint} endpoint.`);
}

const ENDPOINTS: Readonly<Record<Protocol, string>> = {
  chat: 'chat completions',
  messages: 'Messages',
  responses: 'Responses',
};

async function requireSchema(schemas: AcceptParts['schemas'], schema: JsonObject, field: string): Promise<void> {
  const fault = await schemas.check(schema);
  if (fault !== null) throw schemaRefusal(field)(fault.pointer, fault.mustBe);
}

interface ContentParts {
  readonly store: Pick<Store, 'runs' | 'sessions'>;
  readonly blobs: BlobStore;
  /** Keeps the blobs until the turn refers to them. */
  readonly hold: BlobHold;
  readonly caller: KeyCaller;
  readonly fetchImages: AcceptParts['fetchImages'];
  readonly asking: Asking;
}

interface KeptContent {
  readonly content: UserBlock[];
  readonly attachments: NewAttachment[];
  /** The bytes of small ones. */
  readonly contents: Contents;
}

/**
 * Turns input blocks into message content, with the bytes of large uploads stored as blobs. The most expensive steps come last.
 */
async function storeContent(parts: ContentParts, blocks: readonly InputBlock[]): Promise<KeptContent> {
  const kept = new Map<InputBlock, NewAttachment>();
  for (const block of blocks) if (block.type === 'stored') kept.set(block, await reuse(parts, block));
  for (const block of blocks) if (block.type === 'upload') kept.set(block, await storeUpload(parts, block));
  const addresses = blocks.filter((block) => block.type === 'address');
  if (addresses.length > 0) {
    const keep: Fetching['keep'] = async (block, upload) => void kept.set(block, await storeUpload(parts, upload));
    await parts.fetchImages({ blocks: addresses, ...parts.asking, keep });
  }
  const content = blocks.map((block): UserBlock => {
    if (block.type === 'text') return block;
    return { type: 'attachment', attachmentId: kept.get(block)!.id, media: block.media };
  });
  const attachments = blocks.flatMap((block) => kept.get(block) ?? []);
  const contents = await parts.hold.contents.read(attachments.map(({ sha256 }) => sha256));
  return { content, attachments, contents };
}

async function storeUpload(
  { hold }: ContentParts,
  block: Extract<InputBlock, { type: 'upload' }>,
): Promise<NewAttachment> {
  const id = randomUUID();
  const name = safeName(block.name, block.mimeType);
  const sha256 = await hold.put(block.bytes.pieces()).catch((error: unknown) => {
    throw new ErrandError('unavailable', "The daemon's storage refuses to write.", { cause: error });
  });
  return {
    id,
    name,
    path: `attachments/${id}/${name}`,
    mimeType: block.mimeType,
    size: block.bytes.size,
    sha256,
  };
}

/** What a turn, and a session that it opens, are called. */
function namesOf({ content, attachments }: KeptContent): Pick<NewTurn, 'title' | 'preview'> {
  const text = newTextOf(content);
  return {
    title: titleOf(userWords(text)) || attachments[0]?.name || 'Untitled',
    preview: previewOf(askedWords(text)),
  };
}

async function reuse(
  { store, blobs, hold, caller }: ContentParts,
  block: Extract<InputBlock, { type: 'stored' }>,
): Promise<NewAttachment> {
  return withAllHeld(blobs, async () => {
    const found = await store.sessions.findAttachment(caller.user.seq, block.path);
    if (found === undefined) throw notFound('Attachment');
    hold.add(found.sha256);
    return { ...found, id: randomUUID(), isReused: true };
  });
}
