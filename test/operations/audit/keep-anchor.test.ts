// The anchor of the audit log over a real store and a real file: what is done to either while the daemon is stopped, or runs, is found.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { anchorPath } from '../../../src/files/audit-anchor.ts';
import {
  type AnchorKeeper,
  ANCHOR_CHECK_MS,
  ANCHOR_PAUSE_MS,
  makeAnchorKeeper,
} from '../../../src/operations/audit/keep-anchor.ts';
import { type Audit, makeSeal } from '../../../src/operations/audit/audit.ts';
import { ROOT } from '../../support/store/audited-fixture.ts';
import { auditOf, deriveSealKey } from '../../support/store/audit.ts';
import { type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { aNode } from '../../support/store/nodes.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

let fixture: StoreFixture;
let audit: Audit;
let dataDir: string;
let logged: ReturnType<typeof loggedLines>;

beforeEach(async () => {
  fixture = await storeFixture();
  audit = auditOf({ store: fixture.store });
  dataDir = temporaryDirectory();
  logged = loggedLines();
});

const ALONE = { id: 'north', hasPeers: false };

/** A daemon's keeper, started. */
async function opened(deriveKey = deriveSealKey, node = ALONE): Promise<AnchorKeeper> {
  const { store, clock } = fixture;
  const keeper = makeAnchorKeeper({ store, dataDir, node, deriveKey, clock, log: logged.log });
  await keeper.start();
  return keeper;
}

/** One life of a daemon in which things are recorded. */
async function recorded(count: number): Promise<void> {
  const keeper = await opened();
  for (let at = 0; at < count; at += 1) await audit.act(ROOT, 'model.check', `m${at}`);
  await keeper.stop();
}

const inFile = () => JSON.parse(readFileSync(anchorPath(dataDir), 'utf8')) as { last_id: number; doubt: unknown };
const EMPTY = 'DELETE FROM audit_entries; DELETE FROM audit_head; DELETE FROM audit_start;';

test('a new log is anchored, and each end that it has when the daemon stops', async () => {
  const keeper = await opened();
  expect(inFile()).toMatchObject({ last_id: 0, doubt: null });
  const first = { msg: 'the end of the audit log is anchored for the first time', audit_id: 0 };
  expect(logged.lines).toMatchObject([first]);
  await audit.act(ROOT, 'model.check', 'm');
  await keeper.stop();
  expect(inFile()).toMatchObject({ last_id: 1, doubt: null });
  expect((await opened()).fault()).toBeNull();
  expect(logged.lines).toMatchObject([first]);
});

test('a log that grew without its anchor, as after a crash, is the same log', async () => {
  await recorded(2);
  await audit.act(ROOT, 'model.check', 'after');
  const keeper = await opened();
  expect(keeper.fault()).toBeNull();
  expect(inFile()).toMatchObject({ last_id: 3, doubt: null });
});

test.each([
  ['both tables emptied', () => fixture.change(EMPTY), 'entries_missing'],
  [
    'the last entry cut off, and the head with it',
    () => fixture.change('DELETE FROM audit_entries WHERE id = 3; DELETE FROM audit_head'),
    'entries_missing',
  ],
  [
    'the last entry rewritten',
    () => fixture.change("UPDATE audit_entries SET hash = 'x' WHERE id = 3"),
    'entry_changed',
  ],
  ['no anchor any more', () => rmSync(anchorPath(dataDir)), 'anchor_missing'],
  [
    'both tables emptied, and no anchor any more',
    () => (fixture.change(EMPTY), rmSync(anchorPath(dataDir))),
    'anchor_missing',
  ],
  [
    'an anchor of another number',
    () =>
      writeFileSync(
        anchorPath(dataDir),
        readFileSync(anchorPath(dataDir), 'utf8').replace('"last_id":3', '"last_id":2'),
      ),
    'anchor_altered',
  ],
  ['half of an anchor', () => writeFileSync(anchorPath(dataDir), '{"last'), 'anchor_altered'],
])('with %s, the next start says so, and every later one', { tags: ['G17'] }, async (_, harm, fault) => {
  await recorded(3);
  harm();
  expect((await opened()).fault()).toMatch(/^On 2026-03-01T12:00:00.000Z, the daemon found that /);
  expect(inFile()).toMatchObject({ doubt: { fault } });
  const errors = () => logged.lines.filter(({ level }) => level === 'error');
  expect(errors()).toMatchObject([{ fault }]);
  await recorded(5);
  expect((await opened()).fault()).toMatch(/^On 2026-03-01T12:00:00.000Z/);
  expect(inFile()).toMatchObject({ doubt: { fault } });
  expect(errors()).toHaveLength(1);
});

test('an older copy of the database is found, as its anchor is ahead', { tags: ['G17'] }, async () => {
  await recorded(1);
  const older = fixture.rows('SELECT * FROM audit_head') as [{ seal: string; last_hash: string }];
  await recorded(2);
  fixture.change(`DELETE FROM audit_entries WHERE id > 1;
    UPDATE audit_head SET last_id = 1, last_hash = '${older[0].last_hash}', seal = '${older[0].seal}'`);
  expect((await opened()).fault()).toContain('entry 3, which the log had, is missing');
});

test('an anchor that another master key has sealed is not this one’s', async () => {
  await recorded(1);
  expect((await opened(() => Buffer.alloc(32, 6))).fault()).toContain('another master key');
});

test('entries that were removed by age are not missing', async () => {
  await recorded(3);
  const { retention } = fixture.store;
  fixture.clock.advance(3 * 86_400_000);
  await audit.act(ROOT, 'model.check', 'late');
  const batch = { room: () => 100 };
  const removed = await retention.auditEntries(fixture.clock.now() - 86_400_000, batch, makeSeal(deriveSealKey));
  expect(removed.rows).toBe(3);
  expect((await opened()).fault()).toBeNull();
  expect(inFile()).toMatchObject({ last_id: 5, doubt: null });
});

test('the file is written a few seconds after the first of many entries, and once', async () => {
  const keeper = await opened();
  for (let at = 0; at < 9; at += 1) {
    await audit.act(ROOT, 'model.check', `m${at}`);
    keeper.wake();
  }
  await keeper.settled();
  fixture.clock.advance(ANCHOR_PAUSE_MS - 1);
  await keeper.settled();
  expect(inFile().last_id).toBe(0);
  fixture.clock.advance(1);
  await keeper.settled();
  expect(inFile().last_id).toBe(9);
});

test('what is done to a running daemon’s tables or anchor is found within a minute, without an entry', async () => {
  for (const harm of [() => fixture.change(EMPTY), () => rmSync(anchorPath(dataDir))]) {
    dataDir = temporaryDirectory();
    fixture.change('INSERT OR IGNORE INTO audit_anchor_due VALUES (1)');
    const keeper = await opened();
    await audit.act(ROOT, 'model.check', 'm');
    keeper.wake();
    await keeper.settled();
    fixture.clock.advance(ANCHOR_PAUSE_MS);
    await keeper.settled();
    expect(inFile().last_id).toBeGreaterThan(0);
    harm();
    fixture.clock.advance(ANCHOR_CHECK_MS);
    await keeper.settled();
    expect(keeper.fault()).not.toBeNull();
    await keeper.stop();
  }
});

test('an anchor that can’t be written at the start is due, and written later', async () => {
  const gone = dirname(temporaryDirectory());
  const real = dataDir;
  dataDir = `${gone}/not-there`;
  const keeper = await opened();
  expect([await keeper.read(), keeper.fault()]).toEqual([{ kind: 'due' }, null]);
  dataDir = real;
  expect(existsSync(anchorPath(dataDir))).toBe(false);
  expect((await opened()).fault()).toBeNull();
  expect(inFile().last_id).toBe(0);
});

describe('with several nodes', () => {
  const NORTH = { id: 'north', hasPeers: true };
  const SOUTH = { id: 'south', hasPeers: true };

  test('each begins with an anchor of its own, and from then on it must be there', async () => {
    const north = await opened(deriveSealKey, NORTH);
    await audit.act(ROOT, 'model.check', 'm');
    await north.stop();
    dataDir = temporaryDirectory();
    const south = await opened(deriveSealKey, SOUTH);
    expect([south.fault(), inFile()]).toMatchObject([null, { last_id: 1, doubt: null }]);
    await south.stop();
    rmSync(anchorPath(dataDir));
    expect((await opened(deriveSealKey, SOUTH)).fault()).not.toBeNull();
  });

  test('one that was alone keeps its anchor, and must have it when others come', async () => {
    await recorded(1);
    await (await opened(deriveSealKey, NORTH)).stop();
    rmSync(anchorPath(dataDir));
    expect((await opened(deriveSealKey, NORTH)).fault()).not.toBeNull();
  });

  test('where there are none, another id is no other node', async () => {
    await recorded(1);
    dataDir = temporaryDirectory();
    expect((await opened(deriveSealKey, { ...SOUTH, hasPeers: false })).fault()).not.toBeNull();
  });

  test('one that was removed begins again', async () => {
    await (await opened(deriveSealKey, NORTH)).stop();
    await (await opened(deriveSealKey, SOUTH)).stop();
    const facts = aNode({ id: SOUTH.id });
    await fixture.store.nodes.beat(facts, null);
    await fixture.store.nodes.remove({ id: SOUTH.id, beats: 1 });
    dataDir = temporaryDirectory();
    expect((await opened(deriveSealKey, SOUTH)).fault()).toBeNull();
  });
});
