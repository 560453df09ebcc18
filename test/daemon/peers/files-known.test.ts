// Files of runs that another node collects: publishing and webhooks go on as soon as they are known.
import { expect, test } from 'vitest';
import { collectedOfAll } from '../../../src/events/collected.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeVersions, type VersionOutcome } from '../../../src/publishing/versions.ts';
import { makePlanner } from '../../../src/webhooks/planner.ts';
import { openPeers } from '../../support/postgres/peers.ts';
import { aPage, MANUAL, publishFixture, SITE } from '../../support/store/publishing.ts';
import { aWebhook } from '../../support/store/webhooks.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Small ones are ready once they are recorded; the others are packed first, which is reported later. */
const SMALL = { packedOnRequest: { fileCount: 99, totalBytes: 1_000_000 } };

async function nodes() {
  const { fixture, peers } = await openPeers();
  const rows = await publishFixture(fixture);
  const [north, south] = peers;
  const onCollected = collectedOfAll(() => () => undefined, north.bus);
  /** How often who waits for files has begun to look for them. */
  let looks = 0;
  const versions = makeVersions({
    ...rows,
    onCollected: (listener) => {
      looks += 1;
      return onCollected(listener);
    },
    hasPeers: true,
    disk: { shortage: () => null },
    happened: north.wakes.happened,
    settings: () => ({ publish: rows.limits }),
  });
  const run = await rows.uncollected();
  const collect = (how: object) => south.store.artifacts.recordArtifacts(run.seq, { files: SITE, skipped: {}, ...how });
  const publish = (): { outcome: VersionOutcome | undefined } => {
    const published: { outcome: VersionOutcome | undefined } = { outcome: undefined };
    const page = aPage(rows.user.seq, run);
    void versions
      .publish({ sessionSeq: run.sessionSeq, entryPath: page.entryPath }, { ...MANUAL, page })
      .then((outcome) => (published.outcome = outcome));
    return published;
  };
  return { rows, north, collect, publish, onCollected, looks: () => looks };
}

test('a version is published when another node reports the files of its run', { tags: ['L7'] }, async () => {
  const { collect, publish } = await nodes();
  const published = publish();
  await collect(SMALL);
  expect(await waitFor(() => published.outcome)).toMatchObject({ kind: 'published', no: 1 });
});

test('files that another node has found, and not reported, are looked for', { tags: ['L7'] }, async () => {
  const { rows, collect, publish, looks } = await nodes();
  const published = publish();
  await collect({});
  let seen = 0;
  await waitFor(() => {
    // A look may take long, while no time passes.
    if (looks() > seen) {
      seen = looks();
      rows.clock.advance(1_000);
    }
    return published.outcome !== undefined;
  });
  expect(rows.clock.monotonic()).toBeLessThan(20_000);
  expect(published.outcome).toMatchObject({ kind: 'published' });
});

test('the end of a run is sent when another node reports its files', {
  tags: ['§6.5-has_artifacts', 'L7'],
}, async () => {
  const { rows, north, collect, onCollected } = await nodes();
  const { id } = await north.store.webhooks.create(aWebhook());
  rows.change('UPDATE webhook_planning SET cursor = 0');
  const planner = makePlanner({
    store: north.store,
    hasPeers: true,
    clock: rows.clock,
    log: makeLog({ level: 'fatal' }),
  });
  onCollected(planner.collected);
  planner.wake();
  await planner.settled();
  const sent = async () => (await north.store.deliveries.listPending(id, 9))[0]!;
  const isDue = async () => (await sent()).nextAttemptAt <= rows.clock.now();
  expect(await isDue()).toBe(false);
  await collect(SMALL);
  await waitFor(isDue);
  expect(JSON.parse((await sent()).body)).toMatchObject({ summary: { has_artifacts: true } });
  await planner.stop();
});
