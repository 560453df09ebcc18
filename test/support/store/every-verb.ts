// Calls every verb of a store, so that every statement is prepared; tells which were left out.
import { LONG_TEXT } from '../../../src/domain/loop/own-turn.ts';
import { NOTHING_SAID } from '../../../src/domain/sessions/continued/history-chain.ts';
import { GRACE_MS } from '../../../src/store/objects.ts';
import type { Fence } from '../../../src/store/runs/fence.ts';
import { vi } from 'vitest';
import { ID_NOUNS } from '../../../src/domain/ids.ts';
import { RUN_SOURCES } from '../../../src/domain/sessions/office.ts';
import type { Run } from '../../../src/domain/sessions/run.ts';
import { readTimeline } from '../../../src/store/runs/run-timeline.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import { WEBHOOK_EVENT_TYPES } from '../../../src/domain/webhooks/webhook.ts';
import {
  aSpentCall,
  aStep,
  aTurn,
  BACKGROUND_CLAIM,
  fenceOf,
  FREE,
  START,
  type StoreFixture,
} from './store-fixture.ts';
import { aNode, nodeId } from './nodes.ts';
import { aPage, enqueue } from './publishing.ts';
import { sourceOf } from './small-contents.ts';
import { aTask, end, fireDue, fireNow, steps } from './schedules.ts';
import { aWebhook } from './webhooks.ts';

const PAGE = { limit: 9, offset: 0 };
/** They have no statements. */
const WITHOUT_STATEMENTS = new Set([
  'peers',
  'answered',
  'durable',
  'fault',
  'burden',
  'onCommitted',
  'onOwnCommitted',
  'peers',
  'onPlanned',
  'onBudgetWarning',
  'budgetsInForce',
  'watchCommits',
  'close',
]);

/** Answers the names of the verbs that were not called. */
export async function callEveryVerb(fixture: StoreFixture): Promise<string[]> {
  const uncalled = watchVerbs(fixture.store);
  await callBudgets(fixture);
  await callRuns(fixture);
  await callReads(fixture);
  await callMetrics(fixture);
  await callQuestions(fixture);
  await callArtifacts(fixture);
  await callOffice(fixture);
  await callPeople(fixture);
  await callLists(fixture);
  await callSchedules(fixture);
  await callWebhooks(fixture);
  await callPublishing(fixture);
  await callAudit(fixture);
  await callObjects(fixture);
  await fixture.store.figures();
  await callRetention(fixture);
  await callDeletion(fixture);
  return uncalled();
}

function watchVerbs(store: object): () => string[] {
  const spies = Object.entries(store).flatMap(([group, verbs]) => {
    if (WITHOUT_STATEMENTS.has(group)) return [];
    const [holder, names] = typeof verbs === 'function' ? [store, [group]] : [verbs as object, Object.keys(verbs)];
    return names.map((name) => ({
      name: `${group}.${name}`,
      spy: vi.spyOn(holder as Record<string, () => unknown>, name),
    }));
  });
  return () => {
    const left = spies.filter(({ spy }) => spy.mock.calls.length === 0).map(({ name }) => name);
    for (const { spy } of spies) spy.mockRestore();
    return left;
  };
}

async function callObjects({ store, clock }: StoreFixture): Promise<void> {
  const { objects, installation } = store;
  await installation.masterKeyId();
  await installation.claimMasterKey('one');
  await installation.forgetMasterKey();
  const keys = ['listed', 'gone', 'held'];
  await objects.setLocation('s3://bucket/');
  await objects.getLocation();
  await objects.setLocation(null);
  await objects.note(keys);
  await objects.renew(keys);
  await objects.noteRemoved(keys);
  await objects.listRowless(keys);
  await objects.listUnnoted(keys);
  await objects.listDue(clock.now());
  clock.advance(2 * GRACE_MS);
  const begun = await objects.beginRemovals(keys, new Set(['held']));
  await objects.endRemovals(begun, begun);
}

/** Of every kind, so that the runs that follow pay from them. */
export async function callBudgets(fixture: StoreFixture): Promise<void> {
  const { store, user, key, clock } = fixture;
  const { budgets, teams } = store;
  const team = await teams.create({ name: 'Green', budgetUsd: 1 });
  await teams.change('Green', { budgetUsd: 2 });
  const nobody = { keySeq: null, userSeq: null, teamId: null };
  const terms = { unit: 'tokens', period: 'month', timeZone: 'UTC', limit: 15 } as const;
  const small = await budgets.set({ ...terms, subject: 'key', payer: { ...nobody, keySeq: key.seq } }, clock.now);
  const own = { ...terms, subject: 'user', payer: { ...nobody, userSeq: user.seq } } as const;
  const { id } = await budgets.set({ ...own, limit: 1_000_000 }, clock.now);
  await budgets.set({ ...own, limit: 2_000_000 }, clock.now);
  await budgets.set({ ...terms, subject: 'run', period: 'all', payer: nobody, limit: 1_000_000 }, clock.now);
  await budgets.find(id, clock.now());
  const filters = [
    { subject: 'key', payer: { ...nobody, keySeq: key.seq } },
    { subject: 'user', payer: { ...nobody, userSeq: user.seq } },
    { subject: 'team', payer: { ...nobody, teamId: team.id } },
    { subject: null, payer: nobody },
  ] as const;
  for (const filter of filters) await budgets.list({ ...PAGE, ...filter }, clock.now());
  await fixture.accept();
  const [run] = await fixture.claim();
  await callHeld(fixture, fenceOf(run!));
  await store.runs.recordStep(fenceOf(run!), aStep(), FREE);
  await store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await store.runs.settle(fenceOf(run!));
  await budgets.remove(small.id);
}

async function callHeld({ store: { budgets }, clock }: StoreFixture, fence: Fence): Promise<void> {
  const prompt = { model: 'm', inputTokens: 1, costUsd: 0 };
  const call = { ...fence, most: { tokens: 1, usd: 0 }, prompt };
  await budgets.lookForBudgets();
  await budgets.reserve([call], { now: clock.now(), awaited: new Set() });
  const held = budgets.heldOf(fence);
  await budgets.saveHeld(held);
  for (const one of held) await budgets.settleLost(one);
  await budgets.saveHeld(held);
  for (const one of held) await budgets.forget(one);
  await budgets.saveHeld(held);
  held.forEach(budgets.release);
}

async function callRuns(fixture: StoreFixture): Promise<void> {
  const { runs, compactions } = fixture.store;
  const background = { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 9, capacity: 5 } };
  await runs.accept({ ...aTurn(fixture.user, fixture.key), background, idempotencyKey: 'b' });
  await runs.accept({ ...aTurn(fixture.user, fixture.key), background, idempotencyKey: 'b2' });
  await runs.claim({ limit: 1, node: 'here', leaseMs: 1, background: BACKGROUND_CLAIM, modelFor: () => 'm' });
  await runs.expireQueued(Number.MAX_SAFE_INTEGER);
  const first = await fixture.accept({ idempotencyKey: 'a' });
  await fixture.accept({ sessionId: first.sessionId, idempotencyKey: 'c' });
  for (const run of await fixture.claim(3)) {
    const fence = fenceOf(run);
    await runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 0 } }]);
    await callHeld(fixture, fence);
    await runs.discardText(fence);
    const setup = { sha256: 'x', bytes: Buffer.from('{}') };
    await runs.recordStep(fence, aStep({ setup, calls: [{ id: 'x', name: 'shell', input: {} }] }), FREE);
    await runs.recordSpent(fence, aSpentCall(), FREE);
    await runs.recordUnkept(fence, { ...aSpentCall(), outcome: 'failed' }, FREE);
    await compactions.record(fence, { step: 1, summary: '', characters: 1 });
    const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: '', durationMs: 1 };
    await runs.recordToolResult(fence, result);
    const ending = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;
    if (run.seq === first.seq) await runs.end(fence, ending, { untouched: true });
    await runs.finalize(fence, ending);
    await runs.settle(fence, { untouched: true });
    await runs.getOutcome(run.seq);
  }
  const claims = await runs.claim({
    limit: 1,
    node: 'here',
    leaseMs: 1,
    background: BACKGROUND_CLAIM,
    modelFor: () => 'm',
  });
  for (const { run } of claims) await runs.interrupt(fenceOf(run), 'crash');
  const stopped = await fixture.accept({ attachments: [anAttachment()], start: START });
  await runs.stopRun({ sessionSeq: stopped.sessionSeq, runSeq: stopped.seq }, 'user_requested_stop');
  await runs.isStoppingAt(stopped.sessionSeq, 'here');
  await runs.confirmStop(stopped.sessionSeq);
  await fixture.accept();
  await fixture.claim();
  await runs.stopSession(stopped.sessionSeq + 1, 'user_requested_stop');
  await runs.listSessionsOfDisabled(0, 50);
  await fixture.accept();
  await fixture.claim();
  await runs.listExecutingSessions('here');
  await runs.renewLeases('here', [{ sessionSeq: 1, runSeq: 1, attempt: 1, workedMs: 0 }], 60_000);
  await runs.rescue('here');
}

const anAttachment = () => ({
  id: 'file',
  name: 'a.txt',
  path: 'attachments/file/a.txt',
  mimeType: 'text/plain',
  size: 1,
  sha256: 'a',
});

async function callReads(fixture: StoreFixture): Promise<void> {
  for (const noun of ID_NOUNS) await fixture.store.findIds(noun, '0190', 6);
  const { runs, turns, sessions, documents, compactions, events } = fixture.store;
  const { user, key } = fixture;
  const first = await fixture.accept({
    attachments: [{ ...anAttachment(), id: 'read', path: 'attachments/read/a.txt' }],
  });
  await runs.anyClaimable();
  await runs.findNewestQueued();
  await runs.countUnfinished();
  await runs.find(first.id);
  await readTimeline(runs, first, async () => undefined);
  await runs.listMilestones(first.seq, 0);
  await runs.timelineRest(first, []);
  await runs.findTraceParent(1);
  await runs.get(first.seq);
  await runs.findBackground(key.seq, 'b');
  await runs.findSubmitted({ user, key, sessionId: null, idempotencyKey: 'a', background: null });
  await runs.findSubmitted({ user, key, sessionId: first.sessionId, idempotencyKey: 'c', background: null });
  await runs.queuePosition(first.seq);
  for (const sessionSeq of [null, first.sessionSeq])
    await runs.estimatePrompt({ keySeq: key.seq, sessionSeq, characters: 9 });
  await turns.get(first.seq, 2);
  const long = await fixture.accept({ content: [{ type: 'text', text: 'x'.repeat(LONG_TEXT + 1) }] });
  await turns.get(long.seq, 1);
  const budget = { characters: 1_000, bytes: 1_000, documentBytes: 100 };
  await turns.listBefore(first.sessionSeq, first.seq + 1, budget);
  await turns.listHistory(first.sessionSeq, first.seq + 1, budget);
  await turns.listSteps(first.seq, 1, 2);
  await turns.getAskedWith(first.seq);
  await turns.bytesOf({ ...first, documentBytes: 100 });
  await turns.nextBlockIndex(first.seq);
  await compactions.findNewest(first.sessionSeq);
  await sessions.find(first.sessionId);
  await sessions.getSetup(first.sessionSeq);
  await callHistory(fixture, first);
  await sessions.findAttachment(user.seq, 'attachments/read/a.txt');
  await events.listOfRun(first.seq, 0, 10);
  for (const order of ['asc', 'desc'] as const) {
    await events.listOfSession(first.sessionSeq, { afterId: 1, beforeId: 9, order, limit: 9 });
    const range = { afterId: 1, beforeId: 9, order, limit: 9 } as const;
    await events.listOfRunInSession(first, { range, fromStreamSeq: null });
  }
  await events.newestId(first.sessionSeq);
  await events.scopeOf(first.sessionSeq, first.seq);
  await documents.keep('a', { text: 'b' });
  await documents.find('a');
}

/** Every statement of questions, insights and pictures, of one session and of everybody. */
async function callMetrics({ store: { metrics } }: StoreFixture): Promise<void> {
  await metrics.endsOf([1]);
  await metrics.ownLinesAfter(await metrics.newestLine(), 9);
  await metrics.depths();
}

async function callQuestions(fixture: StoreFixture): Promise<void> {
  const { runs, userInputs, insights, screenshots } = fixture.store;
  const [run] = await claimNew(fixture);
  const fence = fenceOf(run!);
  await screenshots.keep(fence, { toolUseId: 'x', sha256: 'a', mimeType: 'image/jpeg', size: 1 });
  await screenshots.find(run!.sessionSeq, 'x');
  const insight = { callId: 'i', title: 't', summary: 's', priority: 'low' } as const;
  const insightId = await insights.report(fence, insight);
  await insights.setStatus(insightId!, 'resolved', 'user');
  await insights.find(insightId!);
  await runs.waitForUser(fence, { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1 });
  const page = { ...PAGE, userSeq: fixture.user.seq, keySeq: null };
  for (const sessionSeq of [null, run!.sessionSeq]) {
    const { items } = await userInputs.list({ ...page, sessionSeq, status: 'pending' });
    for (const { id } of items) await userInputs.answer(id, 'x');
    await insights.list({ ...page, sessionSeq, status: 'new' });
  }
  await userInputs.expire('none');
  await userInputs.expireDue();
  await userInputs.find('none');
  await userInputs.listSettled(run!.seq);
  await userInputs.nextExpiryAt();
}

async function claimNew(fixture: StoreFixture): Promise<ClaimedRun[]> {
  const { seq } = await fixture.accept();
  return (await fixture.claim(99)).filter((run) => run.seq === seq);
}

/** Forks a session with files at each of its runs, and turns behind them. */
async function callForks(fixture: StoreFixture): Promise<void> {
  const { artifacts, runs, sessions } = fixture.store;
  const made: ClaimedRun[] = [];
  for (const content of ['a', 'b']) {
    const { seq } = await fixture.accept({ sessionId: made[0]?.sessionId ?? null });
    const run = (await fixture.claim(99)).find((one) => one.seq === seq)!;
    await runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await runs.settle(fenceOf(run));
    await artifacts.recordArtifacts(
      seq,
      { files: [{ path: '/a', size: 1, sha256: content }], skipped: {} },
      START.node,
    );
    made.push(run);
  }
  const [first] = made;
  await sessions.forkSession({ sessionSeq: first!.sessionSeq, runId: null }, 1);
  const fork = await sessions.forkSession({ sessionSeq: first!.sessionSeq, runId: first!.id }, 0);
  const { seq: sessionSeq, id: sessionId } = fork.kind === 'forked' ? fork.session : { seq: 0, id: '' };
  await sessions.forkSession({ sessionSeq, runId: first!.id }, 0);
  await artifacts.listCopies(0);
  await artifacts.listCopiesOf(first!.sessionSeq);
  while ((await artifacts.copyWorkspace(sessionSeq)).kind === 'more');
  const turn = { ...aTurn(fixture.user, fixture.key), sessionId: first!.sessionId, sessionSeq: first!.sessionSeq };
  await runs.accept({ ...turn, afterRunSeq: first!.seq, idempotencyKey: 'fork' });
  await fixture.accept({ sessionId, protocol: 'messages' });
  await fixture.store.history.listSizesAfter(sessionSeq, 0);
  await sessions.deleteSession(sessionSeq);
  while ((await fixture.store.erasures.finishCleanup(sessionSeq)) !== null);
}

/** Asks for everything that is kept of what runs made. */
async function callArtifacts(fixture: StoreFixture): Promise<void> {
  const { artifacts, runs } = fixture.store;
  const [run] = await claimNew(fixture);
  const { seq, sessionSeq } = run!;
  const files = [{ path: '/a', size: 1, sha256: 'a' }];
  await artifacts.keepBaseline(fenceOf(run!), { files });
  await artifacts.keepBaseline(fenceOf(run!), { files: [], gone: ['/a'] }, START.node);
  await artifacts.keepCheckpoint(fenceOf(run!), { files }, { here: START.node });
  await artifacts.findWorkspace(sessionSeq);
  await runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await runs.settle(fenceOf(run!));
  await artifacts.findBefore(sessionSeq, seq);
  await artifacts.findWork(sessionSeq);
  await artifacts.findWork(sessionSeq, START.node);
  const contents = sourceOf(new Map(files.map(({ sha256 }) => [sha256, Buffer.from('small')])));
  await artifacts.recordArtifacts(seq, { files, contents, skipped: {} }, START.node);
  await callSmallBlobs(fixture);
  await artifacts.listPacking(sessionSeq);
  await artifacts.finishArtifacts(seq, { key: 'b', size: 1 });
  await artifacts.finishExport(sessionSeq, seq, { key: 'c', size: 1 });
  await artifacts.failArtifacts(seq, '');
  await artifacts.failExport(sessionSeq, seq, '');
  await callRequestedArchives(fixture, run!.sessionId);
  const [failing] = await claimNew(fixture);
  await runs.finalize(fenceOf(failing!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await runs.settle(fenceOf(failing!));
  await artifacts.failCollection(failing!.seq, '', START.node);
  await artifacts.listSessionsToCollect();
  await artifacts.listSessionsToCollect(START.node);
  const [lost] = await claimNew(fixture);
  await runs.finalize(fenceOf(lost!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await runs.settle(fenceOf(lost!));
  await artifacts.listLost(0);
  const [moved] = await claimNew(fixture);
  await runs.recordStep(fenceOf(moved!), aStep({ calls: [{ id: 'a', name: 'shell', input: {} }] }), FREE);
  await artifacts.recordLostUploads(fenceOf(moved!));
  await artifacts.moveWorkspace(fenceOf(moved!), { here: 'there', reading: ['read_file'] });
  await artifacts.listWorkspaceNotes(moved!.sessionSeq);
  await artifacts.concludeLost(lost!.sessionSeq, 0);
  await artifacts.getRunArtifacts(seq);
  await artifacts.listRunFiles(seq, '', 9);
  await artifacts.listWorkspaceFiles(sessionSeq, '', 9);
  await artifacts.findWorkspaceFile(sessionSeq, '/none');
  await artifacts.getWorkspaceExport(sessionSeq);
}

/** Messages from both ends, and the steps of a run. */
async function callHistory({ store: { history } }: StoreFixture, { sessionSeq, seq }: Run): Promise<void> {
  await history.listSizesBefore(sessionSeq, Number.MAX_SAFE_INTEGER);
  for (const { id } of await history.listSizesAfter(sessionSeq, 0)) {
    await history.listMessages(sessionSeq, id, id);
    await history.getMessageFacts(id);
    await history.getUserContent(id);
    await history.findUserMessage(seq);
    await history.listAttachments(id);
  }
  await history.listStepSizes(seq, 0, 9);
  await history.getReply(seq, 1);
}

/** Records what a run of a session left, and packs it on request. */
async function callRequestedArchives(fixture: StoreFixture, sessionId: string): Promise<void> {
  const { artifacts, runs } = fixture.store;
  const { seq } = await fixture.accept({ sessionId });
  const run = (await fixture.claim(99)).find((claimed) => claimed.seq === seq)!;
  await runs.finalize(fenceOf(run), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await runs.settle(fenceOf(run));
  const packedOnRequest = { fileCount: 9, totalBytes: 9 };
  await artifacts.recordArtifacts(seq, {
    files: [{ path: '/b', size: 1, sha256: 'd' }],
    skipped: {},
    packedOnRequest,
  });
  for (const request of [{ kind: 'run', seq } as const, { kind: 'workspace', seq: run.sessionSeq } as const]) {
    await artifacts.findRequested(request, packedOnRequest);
    await artifacts.keepRequested(request, seq, { key: 'e', size: 1 });
  }
}

/** What Office Mode reads of a session with an answer, and of one with a run at a tool call. */
async function callOffice(fixture: StoreFixture): Promise<void> {
  const { office, runs } = fixture.store;
  const [run] = await claimNew(fixture);
  const { sessionSeq } = run!;
  await runs.recordStep(fenceOf(run!), aStep({ calls: [{ id: 'x', name: 'shell', input: {} }] }), FREE);
  await office.listRuns(sessionSeq, PAGE);
  await office.getSnapshot({ limit: 9, since: 0 });
  await office.listLiveRuns(PAGE);
  await office.listQuarters({ first: 0, last: 9 });
  await office.hasTeam('none');
  for (const team of [null, 'none']) {
    for (const source of [null, ...RUN_SOURCES]) await office.listToday({ team, source, since: 0, ...PAGE });
  }
  await runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await runs.settle(fenceOf(run!));
  await office.getOverview(sessionSeq);
  await office.getTotals(sessionSeq);
  await office.getSummary(sessionSeq);
  await office.listMessageHeads(sessionSeq, 0, 9);
  await office.listRunHeads(sessionSeq, 0, 9);
  await office.findRounds(sessionSeq, 1);
  await office.listRounds(sessionSeq, 0, 9);
  await office.findLastCall(sessionSeq);
}

/** People, keys, definitions and nodes: short tables, but their verbs have statements too. */
async function callPeople({ store, user, key }: StoreFixture): Promise<void> {
  const { users, teams, keys, signingKeys, nodes, connections, definitionIds } = store;
  const newUser = { ...user, username: 'nils', passwordHash: 'x' };
  const newKey = { ...key, id: 'other000', secretSha256: Buffer.alloc(32) };
  await store.createFirstAdministrator(newUser, newKey);
  await users.ensure(newUser);
  await users.create({ ...newUser, username: 'olga' });
  await users.get('olga');
  await users.findTokenHolder(user.id);
  await users.findLogin('olga');
  await users.listLookAlikes();
  for (const name of ['olga', 'Olga', 'nobody']) await users.findNamed(name);
  await keys.hasUsable(user.seq, 'n', 1);
  await keys.findNewestUsable(user.seq, 1);
  await store.holdings.count(user.seq);
  await store.holdings.list('page', user.seq, 1);
  await users.list('', 1);
  await users.count();
  await users.change('olga', { department: 'Mill' });
  const team = await teams.create({ name: 'Blue', budgetUsd: null });
  await teams.get(team.id);
  await teams.list();
  await teams.change('Blue', { budgetUsd: 1 });
  await keys.create(newKey);
  const [code, cookie] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  await store.officeLogins.create({ id: 'login', keySeq: key.seq, codeSha256: code });
  for (const given of [code, code, cookie]) await store.officeLogins.use(given, cookie);
  await store.officeLogins.find(cookie);
  await store.officeLogins.end(cookie);
  await store.officeLogins.endAll();
  await keys.get(key.id);
  await keys.findCredential(key.id);
  for (const owner of [null, user.seq]) await keys.list(owner, 0, 1);
  for (const owner of [null, user.seq]) await keys.count(owner);
  await keys.change(newKey.id, { name: 'n' });
  await keys.touch(key.seq, 1);
  await keys.revoke(newKey.id);
  await keys.create({ ...newKey, id: 'other001', model: 'gone', target: 'expert:gone' });
  await users.change('olga', { scenario: 'gone' });
  await store.pins.lost({ model: new Set(), scenario: new Set(), expert: new Set(), team: new Set() }, 1, 1);
  await signingKeys.ensureCurrent(Buffer.alloc(16));
  await signingKeys.find('none');
  await signingKeys.findCurrent();
  await signingKeys.list();
  await signingKeys.rotate(Buffer.alloc(16), 0);
  await signingKeys.revokeAll(Buffer.alloc(16));
  await nodes.beat(aNode(), null);
  await nodes.beat({ ...aNode(), process: 'another' }, null);
  const [row] = await nodes.list();
  await nodes.setDraining(row!.id, true);
  await nodes.leave(aNode());
  await nodes.forget('none');
  await nodes.takeOver({ id: 'none', beats: 1 });
  await nodes.remove(row!);
  await definitionIds.idsFor('skill', ['s']);
  await definitionIds.namesOf('skill', [1]);
  await store.endpoints.keepAnswered('e');
  await store.endpoints.hasAnswered('e');
  const secret = Buffer.from('sealed');
  const { id } = await connections.create({ id: 'c', userSeq: user.seq, connector: 'crm', name: 'm', secret });
  await connections.find(id);
  await connections.get(id);
  for (const owner of [null, user.seq]) await connections.list(owner, 0, 1);
  for (const owner of [null, user.seq]) await connections.count(owner);
  await connections.listOf(user.seq, [id]);
  await connections.secretOf(id);
  await connections.sealedOf(user.seq, 9);
  await connections.listSealed(0, 9);
  await connections.replaceSecret(id, secret);
  await connections.noteState(id, 'failed', 'refused');
  await connections.revoke(id);
}

/** What operators list, with each filter and without any. */
async function callLists({ store, user, key }: StoreFixture): Promise<void> {
  const { runs, sessions, userInputs, insights } = store;
  for (const offset of [0, 999]) {
    await sessions.listOfKey(key.seq, 9, offset);
    await sessions.list({ limit: 9, offset, userSeq: null, keySeq: null });
    for (const status of [null, 'completed', 'failed'] as const)
      await runs.list({ limit: 9, offset, sessionSeq: null, status });
  }
  await sessions.find('none');
  await sessions.findContinued(key.seq, 'chat-1', [{ links: [NOTHING_SAID], after: 0 }]);
  await runs.find('none');
  await runs.listWaiting(PAGE);
  await sessions.list({ ...PAGE, userSeq: user.seq, keySeq: key.seq });
  for (const userSeq of [null, user.seq]) {
    await sessions.list({ ...PAGE, userSeq, keySeq: null });
    for (const keySeq of [null, key.seq]) {
      for (const sessionSeq of [null, 1]) {
        await userInputs.list({ ...PAGE, userSeq, keySeq, sessionSeq, status: null });
        await insights.list({ ...PAGE, userSeq, keySeq, sessionSeq, status: null });
      }
    }
  }
  for (const sessionSeq of [null, 1]) {
    for (const status of [null, 'queued', 'completed'] as const) {
      await runs.list({ ...PAGE, sessionSeq, status });
    }
  }
}

/** Tasks that fire by the clock and on request, queue, run to their ends and are deleted. */
async function callSchedules(fixture: StoreFixture): Promise<void> {
  const { schedules, runs } = fixture.store;
  schedules.onRescheduled(() => undefined);
  const task = await schedules.create(aTask(fixture.user.seq, { overlap: 'queue', work: steps('a', 'b') }));
  const skipping = await schedules.create(aTask(fixture.user.seq));
  for (const userSeq of [null, fixture.user.seq])
    for (const enabled of [null, true])
      for (const name of [null, 'Tides']) await schedules.list({ ...PAGE, userSeq, enabled, name });
  for (let minute = 0; minute < 2; minute += 1) {
    fixture.clock.advance(60_000);
    await schedules.nextLook(fixture.clock.now());
    await fireDue(fixture);
  }
  await fireDue(fixture, { maxUnfinishedPerUser: 0, userQuotaBytes: 1, capacity: 1 });
  await schedules.recount(9);
  await schedules.putOff(task.seq, 1);
  await fireNow(fixture, task);
  await runs.listWaiting(PAGE);
  for (let left = await fixture.claim(99); left.length > 0; left = await fixture.claim(99)) {
    for (const run of left) await end(fixture, run);
  }
  await schedules.change(task.id, { name: 'n', work: () => steps('c'), enabled: false });
  await schedules.find(task.id);
  await schedules.listFirings(task.seq, PAGE);
  await fireNow(fixture, skipping);
  await schedules.handOver(skipping.id, { from: fixture.user.seq, to: fixture.user.seq });
  await schedules.remove(skipping.id);
}

/** Webhooks of both owner scopes, every event that one can be told of, and what becomes of a delivery. */
async function callWebhooks(fixture: StoreFixture): Promise<void> {
  const { webhooks, deliveries, runs, insights, userInputs, artifacts } = fixture.store;
  const webhook = await webhooks.create(aWebhook({ userSeq: fixture.user.seq, events: WEBHOOK_EVENT_TYPES }));
  const other = await webhooks.create(aWebhook({ userSeq: null, projectId: 'p' }));
  const [run] = await claimNew(fixture);
  const fence = fenceOf(run!);
  await insights.report(fence, { callId: 'i', title: 't', summary: 's', priority: 'low' });
  await runs.waitForUser(fence, { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1 });
  const nothing = { userSeq: null, keySeq: null, sessionSeq: run!.sessionSeq, status: null };
  for (const { id } of (await userInputs.list({ ...PAGE, ...nothing })).items) await userInputs.answer(id, 'x');
  const [resumed] = await fixture.claim(99);
  await runs.finalize(fenceOf(resumed!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await runs.settle(fenceOf(resumed!));
  await artifacts.recordArtifacts(run!.seq, { files: [{ path: '/w', size: 1, sha256: 'w' }], skipped: {} });
  await artifacts.finishExport(run!.sessionSeq, run!.seq, { key: 'z', size: 1 });
  while ((await deliveries.plan({ holds: true })).more);
  await deliveries.listHeld(0);
  await deliveries.releaseHeld([{ eventId: 'e', sessionSeq: run!.sessionSeq, runSeq: run!.seq, until: 0 }]);
  await deliveries.readEvents({ owner: 1, types: WEBHOOK_EVENT_TYPES, afterId: 0, limit: 99 }, 0);
  await deliveries.getEventUser(1);
  for (const type of WEBHOOK_EVENT_TYPES) await deliveries.findTestFacts(run!.sessionSeq, type);
  await webhooks.change(webhook.id, { name: 'n', events: ['session.failed'], enabled: true });
  await webhooks.rotateSecret(webhook.id, Buffer.from('sealed'));
  await deliveries.listLanes();
  await deliveries.findLane(webhook.id);
  await deliveries.findTarget(webhook.id, 0);
  const [pending] = await deliveries.listPending(webhook.id, 9);
  const result = { at: 1, statusCode: 500, durationMs: 1, error: 'no', responseExcerpt: 'x' };
  await deliveries.listWithPending();
  await deliveries.moveDue(webhook.id, 0, { nextAttemptAt: 0, id: 0 });
  await deliveries.moveFailingSince(0);
  await deliveries.recordAttempt(pending!.id, { result, epoch: 1, retryAt: 1 });
  await deliveries.recordAttempt(pending!.id, { result: { ...result, error: null }, epoch: 1, retryAt: null });
  const test = { webhook, eventId: 'e', eventType: 'session.failed', sessionSeq: null, body: 'b' } as const;
  await deliveries.recordTest(test, result);
  await callDeliveryRecords(fixture, webhook.id, pending!.id);
  for (const enabled of [null, true]) {
    await webhooks.sealedOf(fixture.user.seq, 9);
    await webhooks.listSealed(0, 9);
    await webhooks.list({ ...PAGE, ownerScope: 'system', userSeq: null, enabled });
    await webhooks.list({ ...PAGE, ownerScope: 'user', userSeq: fixture.user.seq, enabled });
    await webhooks.list({ ...PAGE, ownerScope: null, userSeq: null, enabled });
  }
  await webhooks.change(webhook.id, { enabled: false });
  await webhooks.change(webhook.id, { enabled: true });
  await webhooks.giveUp(webhook, 'it is gone');
  await webhooks.find(webhook.id);
  await webhooks.trouble(9);
  await deliveries.cancelOfDisabled();
  await deliveries.pruneSecrets();
  await deliveries.cancelOverdue(0, 'it is late');
  await deliveries.pruneBefore(fixture.clock.now() + 1);
  await webhooks.delete(other.id);
  while (await deliveries.pruneDeleted());
}

async function callDeliveryRecords({ store, user }: StoreFixture, webhookId: number, id: number): Promise<void> {
  const { deliveries } = store;
  const nothing = {
    owner: null,
    webhookId: null,
    eventId: null,
    eventType: null,
    state: null,
    since: null,
    until: null,
  };
  for (const whose of [{}, { owner: user.seq }, { webhookId }, { eventId: 'e' }]) {
    for (const state of [null, 'failed'] as const) {
      for (const type of [null, 'session.failed'] as const) {
        for (const when of [{}, { since: 1, until: 2 }])
          await deliveries.list({ ...PAGE, ...nothing, ...whose, state, eventType: type, ...when });
      }
    }
  }
  await deliveries.find(id);
  await deliveries.redeliver(id);
  await deliveries.redeliverSome({ webhookId, state: 'failed', since: 0 }, null);
}

/** A page of a session and one of a task, each list with each filter, and all that becomes of versions. */
async function callPublishing(fixture: StoreFixture): Promise<void> {
  const { pages, shares, publishJobs, artifacts } = fixture.store;
  const now = fixture.clock.now();
  const [run] = await claimNew(fixture);
  await fixture.store.runs.finalize(fenceOf(run!), { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await fixture.store.runs.settle(fenceOf(run!));
  const files = [{ path: '/site/index.html', size: 1, sha256: 'p' }];
  await artifacts.recordArtifacts(run!.seq, { files, skipped: {} });
  const source = { sessionSeq: run!.sessionSeq, entryPath: '/site/index.html' };
  await pages.planVersion({ ...source, entryPath: '/none' }, { maxFiles: 9, maxTotalMb: 9 });
  const plan = await pages.planVersion(source, { maxFiles: 9, maxTotalMb: 9 });
  if (plan.kind !== 'planned') throw new Error(plan.kind);
  const page = aPage(fixture.user.seq, { sessionSeq: run!.sessionSeq });
  const seq = await pages.copyPart({ seq: null, plan, files });
  const manual = { trigger: 'manual', reason: null, jobId: null } as const;
  const { key, shareCode } = await pages.publish({ seq, plan, files: [] }, { ...manual, page });
  const { id } = (await pages.find(key, now))!;
  await pages.findOwned(key);
  await shares.findOwned(shareCode);
  await pages.change(id, { name: 'n' });
  await pages.createPage(aPage(fixture.user.seq, { scheduledTaskId: 't' }));
  await enqueue(fixture, { taskId: 't', firingSeq: 1, sessionSeq: run!.sessionSeq, runSeq: run!.seq });
  const [job] = await publishJobs.listDue(now, 9);
  await publishJobs.putOff(job!.id);
  await publishJobs.listDue(now, 9);
  await publishJobs.nextAt();
  await publishJobs.hasten(run!.sessionSeq);
  for (let attempt = 0; attempt < 3; attempt += 1) await publishJobs.fail(job!.id, 'no');
  await enqueue(fixture, { taskId: 't', firingSeq: 2, sessionSeq: run!.sessionSeq, runSeq: run!.seq });
  const [again] = await publishJobs.listDue(now, 9);
  const auto = { trigger: 'auto', reason: null, jobId: again!.id } as const;
  await pages.publish({ seq: null, plan, files }, { ...auto, page: { id: again!.pageId } });
  await shares.setEnd(shareCode, now + 1);
  await callPublished(fixture, id, shareCode);
}

async function callPublished({ store, clock, user }: StoreFixture, id: number, code: string): Promise<void> {
  const { pages, shares, manifests, board, pageRemovals } = store;
  const now = clock.now();
  for (const userSeq of [null, user.seq]) {
    for (const origin of [null, 'scheduled_task'] as const) {
      for (const name of [null, 'n']) await pages.list({ ...PAGE, userSeq, origin, name }, now);
    }
    for (const pageId of [null, id]) await shares.list({ ...PAGE, userSeq, pageId }, now);
  }
  const { seq } = (await shares.find(code, now))!;
  for (const no of [null, 1]) {
    for (const at of [null, now]) await manifests.listReadable({ ...PAGE, pageId: id, no, from: at, to: at }, now);
  }
  await manifests.findShared(code);
  await pages.findPublic('none', now);
  await pages.handOverVersions(id, { from: user.seq, to: user.seq });
  await pages.handOver(id, { from: user.seq, to: user.seq });
  await manifests.listFiles(seq, '/', 9);
  await manifests.keepTree(seq, { size: 1, sha256: 't' });
  await manifests.findFile(seq, '/site/index.html');
  for (const account of [null, 'mara']) {
    for (const category of [null, 'c']) {
      for (const name of [null, 'n']) await board.list({ ...PAGE, account, category, name }, now);
    }
  }
  await board.listCategories();
  await pageRemovals.nextEndAt();
  clock.advance(2);
  await pageRemovals.closeEnded();
  await shares.withdraw(code);
  const plan = { sessionSeq: 1, entryPath: '/a', kind: 'planned', userSeq: user.seq, shareType: 'file' } as const;
  await pages.copyPart({ seq: null, plan: { ...plan, files: [], totalSize: 0 }, files: [] });
  for (const draft of await pageRemovals.listDrafts(0)) while (await pageRemovals.clearDraft(draft.seq, true));
  await pages.delete(id);
  while (await pageRemovals.clearWithdrawn());
  while (await pageRemovals.clearDeleted());
  const removals = await pageRemovals.listRemovals('', 9);
  await pageRemovals.finishRemovals(removals, removals);
}

/** A note, and the log with each filter and from each end. */
async function callAudit({ store: { audit, diskSamples } }: StoreFixture): Promise<void> {
  await diskSamples.record(nodeId(1), { freeBytes: 1, freeInodes: null });
  await diskSamples.list(nodeId(1));
  const actor = { userId: null, username: 'operator', via: 'socket', keyId: null } as const;
  const target = { targetType: 'session', targetId: 's', sessionId: 's', address: 'socket', requestId: 'r' };
  const entry = { actor, action: 'session.read', ...target };
  await audit.record({ seal: () => 'seal', entryOf: () => entry, recorded: () => undefined });
  const nothing = { actor: null, action: null, targetId: null, sessionId: null, fromAt: null, toAt: null };
  const filters = [
    {},
    { actor: 'u' },
    { actor: 'operator' },
    { action: 'session.read' },
    { targetId: 's' },
    { sessionId: 's' },
    { fromAt: 1, toAt: 2 },
    { actor: 'u', action: 'session.read', targetId: 's', sessionId: 's', fromAt: 1, toAt: 2 },
  ];
  for (const filter of filters) {
    await audit.list({ ...nothing, ...filter }, { beforeId: null, afterId: null, limit: 9 });
    await audit.list({ ...nothing, ...filter }, { beforeId: null, afterId: 1, limit: 9 });
  }
  await audit.recordWithReserve({ seal: () => 'seal', entryOf: () => entry, recorded: () => undefined });
  await audit.getHead(() => 'seal');
  await audit.compareWithAnchor({ id: 1, hash: 'hash' }, () => 'seal');
  const node = { id: 'node', hasPeers: true };
  await audit.isAnchorDue(node);
  await audit.anchored(node);
  await audit.isAnchorDue(node);
}

async function callRetention({ store, clock }: StoreFixture): Promise<void> {
  const { retention } = store;
  await retention.lookAtClock();
  await retention.heldUntil();
  await retention.trustClock();
  await retention.giveBack({ room: () => 0 });
  clock.advance(9 * 86_400_000);
  const batch = () => ({ room: () => 9 });
  await retention.countEventsOfRuns(clock.now());
  await retention.countEventsOfSessions(clock.now());
  await retention.countDetailsOfRuns(clock.now());
  await retention.countAuditEntries(clock.now());
  const { items } = await store.runs.list({ sessionSeq: null, status: null, limit: 99, offset: 0 });
  const ended = items.find(({ finishedAt }) => finishedAt !== null);
  while ((await retention.eventsOfSessions(clock.now(), batch())).rows > 0);
  let left = 30;
  const some = { room: () => ((left -= 1) > 0 ? 9 : 0) };
  await retention.eventsOfRuns(clock.now(), some);
  if (ended !== undefined) await store.events.listOfRun(ended.seq, 0, 9);
  await retention.detailsOfRuns(clock.now(), {
    room: (
      (rooms) => () =>
        rooms-- > 0 ? 9 : 0
    )(30),
  });
  await retention.auditEntries(clock.now(), batch(), () => 'seal');
  await retention.countIdle(clock.now());
  const idle = (await retention.takeIdle(clock.now(), batch(), { at: 0, key: 0 })).session;
  if (idle !== undefined) await retention.forgetWorkspace(idle, true, { room: () => 9 });
  await retention.countArchives(clock.now());
  await retention.archives(clock.now(), batch());
  await retention.countFirings(clock.now());
  await retention.firings(clock.now(), batch());
  await retention.countVersions(0);
  await retention.versions(0, {
    room: (
      (rooms) => () =>
        rooms-- > 0 ? 1 : 0
    )(9),
  });
  await retention.countScheduledSessions(clock.now());
  await retention.scheduledSessions(clock.now(), batch());
  await retention.countThrowAwaySessions(clock.now());
  await retention.throwAwaySessions(clock.now(), batch());
  await store.artifacts.packRunAgain(1);
  await store.artifacts.packWorkspaceAgain(1);
}

async function callSmallBlobs({ store }: StoreFixture): Promise<void> {
  await store.smallBlobs.find('a');
  for (const count of [1, 4, 16, 64]) await store.smallBlobs.findSome(Array<string>(count).fill('a'));
  await store.smallBlobs.listUses('', 9);
  await store.smallBlobs.remove('none', () => false);
}

async function callDeletion(fixture: StoreFixture): Promise<void> {
  const { sessions, erasures, events, runs } = fixture.store;
  const { sessionSeq, seq }: Run = await fixture.accept();
  const [run] = (await fixture.claim(99)).filter((claimed) => claimed.seq === seq);
  await runs.appendStream(fenceOf(run!), [
    { type: 'content_block_start', payload: { index: 0 } },
    { type: 'content_block_delta', payload: { index: 0, text: 'Half' } },
  ]);
  await events.newestId(sessionSeq);
  await runs.interrupt(fenceOf(run!), 'drain');
  fixture.clock.advance(86_400_000);
  while ((await erasures.eraseDiscarded()) === 'more');
  await events.isOver(seq);
  await sessions.isBlobInUse('a');
  await sessions.hasFiles('a');
  await sessions.listLeftCopies(['a'], START.node);
  await sessions.findLeftCopies([1], START.node);
  await sessions.listIdleCopies(['a'], START.node, 1);
  await callForks(fixture);
  await sessions.deleteSessionOfRun({ seq: 0, sessionSeq });
  await sessions.deleteSession(sessionSeq);
  await sessions.listCleanups(0, 9);
  await erasures.eraseRuns(sessionSeq, 0);
  await erasures.eraseSession(sessionSeq);
  await erasures.finishCleanup(sessionSeq);
}
