// A model server that is restarted under load: the runs wait for it, and none fails.
import { expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** An address of its own: on that of the other tests, another server could take the port meanwhile. */
const HOST = '127.0.0.78';

test('runs outlive a restart of their model server: one in its reply, and those that begin while it is down', async () => {
  const first = await startModelServer({ host: HOST });
  const daemon = await startDaemonProcess({ modelServerUrl: first.url });
  try {
    // One that never has answered would be given up soon.
    expect((await takeTurn(daemon, { content: 'Are you there?' })).status).toBe(200);
    first.script({ hang: 'before-headers' });
    const asked = takeTurn(daemon, { content: 'Before.' });
    await first.waitForRequest(2);
    await first.close();
    const streamed = takeTurn(daemon, { protocol: 'chat', stream: true, content: 'While it is down.' });
    const body = { background: true, idempotency_key: 'restart-1' };
    const background = await takeTurn(daemon, { content: 'In the background.', body });
    expect(background.status).toBe(202);
    await waitFor(() => answersOf(daemon, 'started').length === 3, { what: 'all three to wait for the server' });
    const { entities } = (await daemon.admin('GET', '/api/v1/office-mode/snapshot')) as {
      entities: { status: string }[];
    };
    const model_wait = { agent: null, message: expect.stringContaining('the connection was refused') as string };
    const running = entities.filter(({ status }) => status === 'running');
    expect(running).toMatchObject([{ model_wait }, { model_wait }, { model_wait }]);
    const second = await startModelServer({ host: HOST, port: first.port });
    try {
      second.script({ text: 'Up again.' });
      for (const answer of await Promise.all([asked, streamed])) {
        expect(answer).toMatchObject({ status: 200, text: 'Up again.', error: null });
      }
      await waitFor(() => statusesOf(daemon).length === 4, { what: 'the background run to end' });
      expect(statusesOf(daemon)).toEqual(Array.from({ length: 4 }, () => 'completed'));
      expect(answersOf(daemon, 'ended')).toEqual([1, 1, 1]);
    } finally {
      await second.close();
    }
  } finally {
    await daemon.close();
  }
});

function statusesOf(daemon: { readonly dataDir: string }): string[] {
  const ended = rowsOf<{ status: string }>(daemon, 'SELECT status FROM runs WHERE finished_at IS NOT NULL');
  return ended.map(({ status }) => status);
}

/** Of the events of one kind that say who waits for a model: whether it replied, if they say that. */
function answersOf(daemon: { readonly dataDir: string }, kind: 'started' | 'ended'): (number | null)[] {
  const sql = "SELECT payload ->> '$.answered' AS answered FROM events WHERE type = ?";
  return rowsOf<{ answered: number | null }>(daemon, sql, `model_wait.${kind}`).map(({ answered }) => answered);
}
