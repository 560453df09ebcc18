// No verb of the store works longer than 50 ms, whatever its input and whatever a tenant has: each has its largest case here, or
// is known to touch a few rows. Times are those of the processor, and the least of five.
import { createHash, randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MOST_OBJECTS } from '../../src/store/objects.ts';
import type { Store } from '../../src/store/open-store.ts';
import { longestTurnMsOf } from '../support/time/cpu-time.ts';
import { leastOfFive } from '../support/time/machine-speed.ts';
import { inTurns, largestFixture } from '../support/store/largest-fixture.ts';
import { WEBHOOK_EVENT_TYPES } from '../../src/domain/webhooks/webhook.ts';
import { attachmentOf, contentsOf, sourceOf } from '../support/store/small-contents.ts';
import { aStep, FREE, START } from '../support/store/store-fixture.ts';

const LONGEST_MS = 50;
const PAGE = { limit: 500, offset: 0 };
const PORTION = 250;
const LAST = Number.MAX_SAFE_INTEGER;
const ALL = { characters: LAST, bytes: 8_000_000, documentBytes: 0 };

type Fixture = Awaited<ReturnType<typeof largestFixture>>;
type Case = (fixture: Fixture) => Promise<unknown>;

/** The largest case of each verb whose work grows with its input, or with what there is. */
const CASES: Readonly<Record<string, Case>> = {
  'history.listSizesAfter': ({ store, turns }) => store.history.listSizesAfter(turns.seq, 0),
  'history.listSizesBefore': ({ store, steps }) => store.history.listSizesBefore(steps.seq, LAST),
  'history.listMessages': ({ store, many, messages }) =>
    store.history.listMessages(many.seq, messages[0]!, messages[63]!),
  'history.getUserContent': ({ store, message }) => store.history.getUserContent(message),
  'history.listStepSizes': ({ store, steps }) => store.history.listStepSizes(steps.runSeq, 0, 50),
  'history.getReply': ({ store, turns }) => store.history.getReply(turns.runSeq, 1),
  'turns.get': ({ store, turns }) => store.turns.get(turns.runSeq, 2),
  'turns.listSteps': ({ store, steps }) => store.turns.listSteps(steps.runSeq, 1, 4),
  'turns.getAskedWith': ({ store, steps }) => store.turns.getAskedWith(steps.runSeq),
  'turns.bytesOf': ({ store, steps }) =>
    store.turns.bytesOf({ sessionSeq: steps.seq, seq: steps.runSeq, documentBytes: 9 }),
  'turns.nextBlockIndex': ({ store, steps }) => store.turns.nextBlockIndex(steps.runSeq),
  'turns.listBefore': ({ store, turns }) => inTurns(() => store.turns.listBefore(turns.seq, LAST, ALL)),
  'turns.listHistory': ({ store, many }) => inTurns(() => store.turns.listHistory(many.seq, LAST, ALL)),
  'nodes.list': ({ store }) => store.nodes.list(),
  'nodes.forget': ({ store }) => store.nodes.forget('none'),
  'runs.list': ({ store }) => store.runs.list({ ...PAGE, sessionSeq: null, status: null }),
  'runs.listWaiting': ({ store }) => store.runs.listWaiting(PAGE),
  'runs.listMilestones': ({ store, steps }) => store.runs.listMilestones(steps.runSeq, 0),
  'runs.listExecutingSessions': ({ store }) => store.runs.listExecutingSessions('here'),
  'sessions.list': ({ store }) => store.sessions.list({ ...PAGE, userSeq: null, keySeq: null }),
  'sessions.listOfKey': ({ store, fixture }) => store.sessions.listOfKey(fixture.key.seq, PAGE.limit, 0),
  'events.listOfSession': ({ store, many }) =>
    store.events.listOfSession(many.seq, { afterId: 0, beforeId: LAST, order: 'desc', limit: 500 }),
  'artifacts.listRunFiles': ({ store, files }) => store.artifacts.listRunFiles(files.runSeq, '', PORTION),
  'artifacts.listWorkspaceFiles': ({ store, files }) => store.artifacts.listWorkspaceFiles(files.seq, '', PORTION),
  'artifacts.getRunArtifacts': ({ store, files }) => store.artifacts.getRunArtifacts(files.runSeq),
  'artifacts.listSessionsToCollect': ({ store }) => store.artifacts.listSessionsToCollect('here'),
  'artifacts.listLost': ({ store }) => store.artifacts.listLost(0),
  'smallBlobs.findSome': ({ store }) =>
    store.smallBlobs.findSome(Array.from({ length: 17 }, (_, at) => at.toString(16).padStart(64, '0'))),
  'smallBlobs.listUses': ({ store }) => store.smallBlobs.listUses('', 100),
  'office.listMessageHeads': ({ store, many }) => store.office.listMessageHeads(many.seq, 0, PORTION),
  'office.listRunHeads': ({ store, many }) => store.office.listRunHeads(many.seq, 0, PORTION),
  'office.listRuns': ({ store, many }) => store.office.listRuns(many.seq, PAGE),
  'office.getSnapshot': ({ store }) => store.office.getSnapshot({ limit: 96, since: 0 }),
  'office.listLiveRuns': ({ store }) => store.office.listLiveRuns(PAGE),
  'office.listToday': ({ store }) =>
    store.office.listToday({ team: null, source: null, since: 0, limit: 50, offset: 0 }),
  'office.getOverview': ({ store, many }) => store.office.getOverview(many.seq),
  'office.getTotals': ({ store, many }) => store.office.getTotals(many.seq),
  'office.getSummary': ({ store, many }) => store.office.getSummary(many.seq),
  'office.findRounds': ({ store, many }) => store.office.findRounds(many.seq, 2_000),
  'office.listRounds': ({ store, steps }) => store.office.listRounds(steps.seq, 0, 5),
  'users.list': ({ store }) => store.users.list('', PORTION),
  'users.listLookAlikes': ({ store }) => store.users.listLookAlikes(),
  'keys.list': ({ store }) => store.keys.list(null, 0, PORTION),
  'holdings.count': ({ store, fixture }) => store.holdings.count(fixture.user.seq),
  'pins.lost': ({ store, now }) =>
    store.pins.lost({ model: new Set(), scenario: new Set(), expert: new Set(), team: new Set() }, now, 10),
  'teams.list': ({ store }) => store.teams.list(),
  'webhooks.list': ({ store }) => store.webhooks.list({ ...PAGE, ownerScope: null, userSeq: null, enabled: null }),
  'deliveries.plan': ({ store }) => store.deliveries.plan(),
  'deliveries.readEvents': ({ store }) =>
    store.deliveries.readEvents({ owner: 1, types: WEBHOOK_EVENT_TYPES, afterId: 0, limit: 100 }),
  'manifests.listFiles': ({ store, version }) => store.manifests.listFiles(version, '/', PORTION),
  'board.list': ({ store, now }) => store.board.list({ ...PAGE, account: null, category: null, name: 'l' }, now),
  'board.listCategories': ({ store }) => store.board.listCategories(),
  'pages.list': ({ store, now }) => store.pages.list({ ...PAGE, userSeq: null, origin: null, name: null }, now),
  'shares.list': ({ store, now }) => store.shares.list({ ...PAGE, userSeq: null, pageId: null }, now),
  'audit.list': ({ store }) =>
    store.audit.list(
      { actor: null, action: null, targetId: null, sessionId: null, fromAt: null, toAt: null },
      { beforeId: null, afterId: null, limit: 500 },
    ),
  'objects.note': ({ store }) => store.objects.note(SOME_OBJECTS),
  'objects.renew': ({ store }) => store.objects.renew(SOME_OBJECTS),
  'objects.noteRemoved': ({ store }) => store.objects.noteRemoved(SOME_OBJECTS),
  'objects.beginRemovals': ({ store }) => store.objects.beginRemovals(SOME_OBJECTS, new Set()),
  'retention.countIdle': ({ store, now }) => store.retention.countIdle(now),
  'retention.countEventsOfRuns': ({ store, now }) => store.retention.countEventsOfRuns(now),
  'retention.countDetailsOfRuns': ({ store, now }) => store.retention.countDetailsOfRuns(now),
  'erasures.eraseRuns': ({ store, erased }) => store.erasures.eraseRuns(erased, 0),
  'metrics.depths': ({ store }) => store.metrics.depths(),
  // Those that write are last: what they write is in the way of none.
  'compactions.record': ({ store, nextFence, text }) =>
    store.compactions.record(nextFence(), { step: 1, summary: text, characters: text.length }),
  'sessions.forkSession': async ({ store, many }) => {
    const fork = await store.sessions.forkSession({ sessionSeq: many.seq, runId: null }, 0);
    const { seq } = fork.kind === 'forked' ? fork.session : { seq: 0 };
    await inTurns(() => store.turns.listHistory(seq, LAST, ALL));
    await store.history.listSizesAfter(seq, 0);
  },
  'artifacts.copyWorkspace': async ({ store, files }) => {
    const fork = await store.sessions.forkSession({ sessionSeq: files.seq, runId: null }, 0);
    while (fork.kind === 'forked' && (await store.artifacts.copyWorkspace(fork.session.seq)).kind === 'more')
      await nextTurn();
  },
  'documents.keep': ({ store, text, nextId }) => store.documents.keep(nextId(), { text }),
  // With as many attachments as a holder keeps in memory.
  'runs.accept': async ({ fixture, text, nextId }) => {
    await fixture.accept({ content: [{ type: 'text', text }] });
    const contents = Array.from({ length: 16 }, () => randomBytes(65_536));
    const attachments = contents.map((content) => attachmentOf(content, nextId()));
    await fixture.accept({ attachments, contents: contentsOf(...contents) });
  },
  // As much as the executor gives it at once.
  'runs.appendStream': ({ store, nextFence, text }) =>
    store.runs.appendStream(nextFence(), [
      { type: 'content_block_delta', payload: { index: 0, text: text.slice(0, 262_144) } },
    ]),
  // A reply has no more than 4 MB as its model sends it, where escapes are escaped again.
  'runs.recordStep': async ({ store, nextFence, text }) => {
    await store.runs.recordStep({ ...nextFence(), workedMs: 0 }, aStep({ text }), FREE);
    const calls = [{ id: 'c', name: 'write_file', input: { content: text.slice(0, 1_050_000) } }];
    await store.runs.recordStep({ ...nextFence(), workedMs: 0 }, aStep({ text: '', calls }), FREE);
  },
  'runs.finalize': ({ store, nextFence, text }) =>
    store.runs.finalize(nextFence(), { outcome: 'completed', answer: text, stopReason: 'end_turn' }),
  // More than a workspace has by default.
  'artifacts.keepBaseline': async ({ store, nextFence }) => {
    const fence = nextFence();
    await store.artifacts.keepBaseline(fence, { files: MANY_FILES });
    await store.artifacts.keepBaseline(fence, { files: [], gone: MANY_FILES.map(({ path }) => path) });
  },
  // And all of it is told from what was before the run.
  'artifacts.keepCheckpoint': async ({ store, nextFence }) => {
    const fence = nextFence();
    await store.artifacts.keepCheckpoint(fence, { files: MANY_FILES });
    await store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
    await store.runs.settle(fence);
    await store.artifacts.recordArtifacts(fence.runSeq, { files: [], skipped: {} }, START.node);
  },
  'artifacts.recordArtifacts': async (fixture) => {
    await fixture.store.artifacts.recordArtifacts(await endOne(fixture), { files: MANY_FILES, skipped: {} });
    const contents = sourceOf(contentsOf(...Array.from({ length: 1_000 }, (_, at) => randomBytes(2_000 + at * 16))));
    const files = contents.keys.map((sha256, at) => ({ path: `/small ${at}`, size: 2_000 + at * 16, sha256 }));
    await fixture.store.artifacts.recordArtifacts(await endOne(fixture), { files, contents, skipped: {} });
  },
  'artifacts.failCollection': async (fixture) => {
    const runSeq = await endOne(fixture);
    // Left by a process that was killed; a folder at a time, since this is no work of the verb.
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      fixture.fixture.change(`INSERT INTO run_artifact_files (run_seq, path, state, size, sha256)
        SELECT ${runSeq}, path, state, size, sha256 FROM run_artifact_files
        WHERE run_seq = ${fixture.files.runSeq} AND path >= '/src/${folder}/' AND path < '/src/${folder}0'`);
      await nextTurn();
    }
    const left = `SELECT count(*) AS rows FROM run_artifact_files WHERE run_seq = ${runSeq}`;
    expect(fixture.fixture.rows(left)).toEqual([{ rows: 10_000 }]);
    await fixture.store.artifacts.failCollection(runSeq, 'No time.');
  },
};

/** As many as one call has. */
const SOME_OBJECTS = Array.from({ length: MOST_OBJECTS }, (_, index) =>
  createHash('sha256').update(`object ${index}`).digest('hex'),
);

const FOLDERS = 50;
const MANY_FILES = Array.from({ length: 60_000 }, (_, index) => ({
  path: `/src/${index % FOLDERS}/a file with a name ${index}.txt`,
  size: index,
  sha256: createHash('sha256').update(String(index)).digest('hex'),
}));

/** Ends a run of a session of its own. */
async function endOne({ store, nextFence }: Fixture): Promise<number> {
  const fence = nextFence();
  await store.runs.finalize(fence, { outcome: 'completed', answer: '', stopReason: 'end_turn' });
  await store.runs.settle(fence);
  return fence.runSeq;
}

/** What they touch is a few rows, or as many as their caller's limit, with short texts: their plans are tested. */
const FEW_ROWS: Readonly<Record<string, string>> = {
  findIds: '',
  createFirstAdministrator: '',
  users: 'count create get findTokenHolder findLogin findNamed ensure change',
  teams: 'create get change',
  budgets: 'find list set remove reserve saveHeld forget settleLost release heldOf lookForBudgets',
  budgetsInForce: 'any begun look changed mayBe onChange',
  keys: 'count create get findCredential findNewestUsable hasUsable change revoke touch',
  holdings: 'list',
  officeLogins: 'create use find end endAll',
  signingKeys: 'find findCurrent ensureCurrent list rotate revokeAll',
  sessions:
    'getSetup findAttachment find findContinued deleteSession deleteSessionOfRun listCleanups isBlobInUse hasFiles listLeftCopies findLeftCopies listIdleCopies',
  history: 'listAttachments getMessageFacts findUserMessage',
  erasures: 'eraseSession finishCleanup eraseDiscarded',
  compactions: 'findNewest',
  definitionIds: 'idsFor namesOf',
  endpoints: 'hasAnswered keepAnswered',
  documents: 'find',
  smallBlobs: 'find remove',
  screenshots: 'keep find',
  events: 'listOfRun isOver listOfRunInSession newestId scopeOf',
  nodes: 'beat leave takeOver setDraining remove',
  installation: 'masterKeyId claimMasterKey forgetMasterKey',
  artifacts:
    'findWork findBefore listPacking finishArtifacts failArtifacts finishExport failExport findWorkspace findWorkspaceFile findRequested getWorkspaceExport keepRequested packWorkspaceAgain packRunAgain concludeLost recordLostUploads moveWorkspace listWorkspaceNotes listCopies listCopiesOf',
  office: 'listQuarters hasTeam findLastCall',
  userInputs: 'find list listSettled nextExpiryAt answer expire expireDue',
  insights: 'report find list setStatus',
  connections: 'count find get list listOf sealedOf listSealed secretOf create replaceSecret noteState revoke',
  schedules:
    'onRescheduled create find list change handOver remove nextLook recount listDue putOff fireDue fireNow listFirings',
  audit: 'record recordWithReserve getHead compareWithAnchor isAnchorDue anchored',
  metrics: 'endsOf newestLine ownLinesAfter',
  webhooks: 'sealedOf listSealed create change delete find rotateSecret giveUp trouble',
  deliveries:
    'releaseHeld listHeld listLanes findLane listPending findTarget findTestFacts getEventUser listWithPending moveDue moveFailingSince recordAttempt recordTest list find redeliver redeliverSome pruneBefore cancelOverdue pruneDeleted pruneSecrets cancelOfDisabled',
  pages: 'find findPublic findOwned change handOver handOverVersions delete createPage copyPart publish planVersion',
  shares: 'setEnd withdraw find findOwned',
  manifests: 'listReadable findShared findFile keepTree',
  diskSamples: 'record list',
  objects: 'endRemovals getLocation setLocation listDue listRowless listUnnoted',
  publishJobs: 'listDue nextAt putOff hasten fail',
  pageRemovals: 'closeEnded nextEndAt clearWithdrawn clearDeleted listDrafts clearDraft listRemovals finishRemovals',
  runs: 'getOutcome get findBackground queuePosition anyClaimable countUnfinished find beginTimeline timelineRest findTraceParent discardText recordSpent recordUnkept recordToolResult end settle findSubmitted claim interrupt rescue renewLeases stopSession stopRun listSessionsOfDisabled confirmStop isStoppingAt waitForUser expireQueued findNewestQueued estimatePrompt',
  retention:
    'lookAtClock trustClock heldUntil countAuditEntries auditEntries archives countArchives takeIdle forgetWorkspace countFirings countScheduledSessions countThrowAwaySessions firings scheduledSessions throwAwaySessions versions countVersions countEventsOfSessions giveBack eventsOfRuns eventsOfSessions detailsOfRuns',
  answered: '',
  durable: '',
  fault: '',
  burden: '',
  figures: '',
  onBudgetWarning: '',
  onCommitted: '',
  onOwnCommitted: '',
  onPlanned: '',
  watchCommits: '',
  close: '',
};

const namesOf = (store: Store) =>
  Object.entries(store).flatMap(([group, verbs]) =>
    typeof verbs === 'function' ? [group] : Object.keys(verbs ?? {}).map((verb) => `${group}.${verb}`),
  );

test('no verb works longer than 50 ms on its largest case, and each has a case or is known to need none', async () => {
  const fixture = await largestFixture();
  const few = Object.entries(FEW_ROWS).flatMap(([group, verbs]) =>
    verbs === '' ? [group] : verbs.split(' ').map((verb) => `${group}.${verb}`),
  );
  const known = [...Object.keys(CASES), ...few];
  expect(known.toSorted()).toEqual(namesOf(fixture.store).toSorted());
  const longer: [string, number][] = [];
  for (const [name, call] of Object.entries(CASES)) {
    const least = await leastOfFive(LONGEST_MS, async () => longestTurnMsOf(async () => call(fixture)));
    if (least >= LONGEST_MS) longer.push([name, Math.round(least)]);
  }
  expect(longer).toEqual([]);
});
