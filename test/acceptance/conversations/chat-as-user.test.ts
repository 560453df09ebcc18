// `errand chat --as USER` with the real daemon: the operator beside it speaks as a user, and nobody else does.
import { expect, onTestFinished, test } from 'vitest';
import { runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { startModelServer } from '../../support/model/model-server.ts';

interface Answer {
  readonly session_id: string;
  readonly content: readonly { readonly text: string }[];
}

test("the operator beside the daemon asks as a user, in a session that is the user's", {
  tags: ['B5-as-user'],
}, async () => {
  const model = await startModelServer();
  onTestFinished(() => model.close());
  model.script(({ userText }) => ({ text: userText.toUpperCase() }));
  const daemon = await startDaemonProcess({ modelServerUrl: model.url });
  onTestFinished(() => daemon.close());
  await daemon.admin('POST', '/api/v1/users', { username: 'lin', full_name: 'Lin', role: 'user' });
  const ask = async (...words: readonly string[]) => {
    const { stdout } = await runErrand(['chat', ...words, '--as', 'lin', '--data-dir', daemon.dataDir, '-o', 'json']);
    return JSON.parse(stdout) as Answer;
  };
  await expect(ask('hello')).rejects.toThrow('errand keys create --user lin');
  const made = { user: 'lin', scope: 'conversation' };
  const { key } = (await daemon.admin('POST', '/api/v1/keys', made)) as { key: string };
  const first = await ask('hello');
  expect(first.content.map(({ text }) => text)).toEqual(['HELLO']);
  expect((await ask('again', '--session', first.session_id)).session_id).toBe(first.session_id);
  const mine = { content: 'mine', sessionId: first.session_id };
  const own = await takeTurn({ url: daemon.url, apiKey: key }, mine);
  expect(own).toMatchObject({ status: 200, sessionId: first.session_id });
  const { items } = (await daemon.admin('GET', '/api/v1/audit?action=key.use')) as { items: readonly object[] };
  expect(items).toHaveLength(1);
  const elsewhere = await takeTurn({ url: daemon.url, apiKey: 'as:lin' }, { content: 'hello' });
  expect(elsewhere.status).toBe(401);
});
