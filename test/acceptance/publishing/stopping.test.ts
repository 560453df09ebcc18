// Pages for people while the daemon stops.
import { expect, onTestFinished, test } from 'vitest';
import { startGallery } from '../../support/publishing/gallery.ts';

test('a reader who waits for a text to be rendered is asked to try again when the daemon stops', async () => {
  const fixture = await startGallery();
  onTestFinished(() => fixture.close());
  // It would take minutes.
  await fixture.make({ 'slow.md': '<pre>'.repeat(200_000) });
  const { code } = await fixture.publish({ name: 'Slow', entry_path: '/slow.md' });
  const waiting = fetch(`${fixture.daemon.url}/share/${code}`);
  // What was sent later is answered already.
  await fetch(`${fixture.daemon.url}/share`);
  await fixture.daemon.stop();
  const reply = await waiting;
  expect(reply.status).toBe(503);
  expect(reply.headers.get('retry-after')).toBe('5');
  expect(await reply.text()).toContain('<h1>Temporarily unavailable</h1>');
});
