// A store with the largest of what tenants may have, and a measure of what a verb takes of the thread at once.
import { openLargeStore } from './large-store.ts';
import { fenceOf, storeFixture } from './store-fixture.ts';

/** The longest text of a turn, most of it characters that JSON escapes or that take two bytes. */
const TEXT = '\u0001ö"'.repeat(1_000_000);
/** More than are asked for at once, each of 64 KB. */
const SMALL_BLOBS = 500;
const [TURNS, SHORT_TURNS, STEPS, FILES, USERS, NODES, LIVE_RUNS] = [10, 2_500, 200, 10_000, 2_000, 1_100, 100];

/** For functions that give way to others between their verbs. */
export const inTurns = <T>(work: () => Promise<T>): Promise<T> => work();

/** Makes it. `nextFence`: of a run that executes, another one each time. */
export async function largestFixture() {
  const fixture = await storeFixture();
  const { store } = fixture;
  const large = openLargeStore(fixture.file);
  const made = {
    turns: large.conversation(TURNS, TEXT),
    many: large.conversation(SHORT_TURNS, 'A short text.'),
    steps: large.longRun(STEPS, 'x'.repeat(20_000)),
    files: large.workspace(FILES, (index) => `/src/${index % 50}/file number ${index}.txt`),
    erased: large.workspace(FILES, (index) => `/src/${index % 50}/file number ${index}.txt`),
  };
  for (let page = 0; page < 300; page += 1) large.page(1, () => '/site/index.html', 'long '.repeat(400));
  const pageKey = large.page(5_000, (index) => `/site/${index}.html`);
  large.people(USERS);
  large.nodes(NODES);
  large.close();
  const [sessionRow] = [fixture.rows<{ id: string; seq: number }>('SELECT id, seq FROM sessions')];
  const seqOf = (id: string) => sessionRow.find((row) => row.id === id)!.seq;
  const placeOf = ({ sessionId }: { readonly sessionId: string }) => {
    const seq = seqOf(sessionId);
    return {
      seq,
      runSeq: fixture.rows<{ seq: number }>(`SELECT seq FROM runs WHERE session_seq = ${seq} LIMIT 1`)[0]!.seq,
    };
  };
  const [turns, many, steps, files] = [made.turns, made.many, made.steps, made.files].map(placeOf) as [
    Place,
    Place,
    Place,
    Place,
  ];
  for (let run = 0; run < LIVE_RUNS; run += 1) await fixture.accept();
  const live = await fixture.claim(LIVE_RUNS);
  const idsOf = (seq: number) =>
    fixture.rows<{ id: number }>(`SELECT id FROM messages WHERE session_seq = ${seq} ORDER BY id`).map(({ id }) => id);
  const erased = seqOf(made.erased.sessionId);
  await store.sessions.deleteSession(erased);
  fixture.change(`INSERT INTO small_blobs (key, bytes)
    WITH RECURSIVE n (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM n WHERE n < ${SMALL_BLOBS - 1})
    SELECT printf('%064x', n), randomblob(65536) FROM n`);
  let [next, ids] = [0, 0];
  return {
    fixture,
    store,
    now: fixture.clock.now(),
    text: TEXT,
    turns,
    many,
    steps,
    files,
    erased,
    message: idsOf(turns.seq)[0]!,
    messages: idsOf(many.seq),
    version: fixture.rows<{ seq: number }>(
      `SELECT v.seq FROM publish_versions v JOIN publish_pages p ON p.id = v.page_id WHERE p.key = '${pageKey}'`,
    )[0]!.seq,
    nextFence: () => fenceOf(live[next++]!),
    nextId: () => `id ${(ids += 1)}`,
  };
}

interface Place {
  readonly seq: number;
  readonly runSeq: number;
}
