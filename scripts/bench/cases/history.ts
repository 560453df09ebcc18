// The cases of long conversations: the time to the first text after a number of earlier turns.
import { startDaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import type { Figures, Scale } from './scale.ts';
import { fillSession } from '../stores/fill-store.ts';
import { quantile } from '../load.ts';

const EARLIER = [0, 100, 1_000];
const WORDS = 'a word of the conversation '.repeat(8);
const OLD = `Tell me. ${WORDS} [[text=${WORDS}]]`;
const NOW = 'Go on. [[deltas=3 stamp=1]]';

/** First text after 0, 100 and 1,000 turns of about 450 characters, which fit into the window of a wide model. */
export async function measureHistory(modelUrl: string, scale: Scale, failures: string[]): Promise<Figures> {
  const daemon = await startDaemonProcess({
    modelsYaml: [
      `endpoints: { scripted: { kind: openai, base_url: "${modelUrl}/v1" } }`,
      'models: { scripted: { endpoint: scripted, model: scripted, context_window: 1000000, max_output_tokens: 4096 } }',
      'scenarios: { general: { model: scripted } }',
      'default_scenario: general',
      '',
    ].join('\n'),
  });
  const figures: Figures = {};
  try {
    const sessions: string[] = [];
    for (const turns of EARLIER) {
      const { sessionId, runId } = await turn(daemon, OLD, null);
      sessions.push(sessionId);
      if (turns < 2) continue;
      await daemon.stop();
      fillSession(daemon.dataDir, runId, turns - 1);
      await daemon.restart();
    }
    for (let i = 0; i < 10; i += 1) await turn(daemon, NOW, null);
    for (const [index, turns] of EARLIER.entries()) {
      const times: number[] = [];
      // Each measured turn makes the conversation longer by one: a few are enough.
      for (let i = 0; i < Math.min(scale.single, 30); i += 1) {
        const session = turns === 0 ? null : sessions[index]!;
        await turn(daemon, NOW, session).then(
          ({ firstTextMs }) => times.push(firstTextMs),
          (error: unknown) => failures.push(String(error)),
        );
      }
      figures[`firstTextAfter${turns}P50Ms`] = quantile(times, 0.5);
      figures[`firstTextAfter${turns}P99Ms`] = quantile(times, 0.99);
    }
  } finally {
    await daemon.close();
  }
  return figures;
}

interface Taken {
  readonly sessionId: string;
  readonly runId: string;
  readonly firstTextMs: number;
}

/** Takes one streamed turn; the time runs from the request to its first text. */
async function turn(
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  content: string,
  sessionId: string | null,
): Promise<Taken> {
  const metadata = sessionId === null ? {} : { metadata: { session_id: sessionId } };
  const startedAt = performance.now();
  const response = await fetch(`${url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content }], ...metadata }),
  });
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`);
  let text = '';
  let firstTextMs: number | undefined;
  for await (const bytes of response.body) {
    text += Buffer.from(bytes as Uint8Array).toString('utf8');
    if (text.includes('content_block_delta')) firstTextMs ??= performance.now() - startedAt;
  }
  if (firstTextMs === undefined || !text.includes('message_stop')) throw new Error(`No answer: ${text.slice(0, 300)}`);
  const idOf = (name: string) => response.headers.get(name) ?? '';
  return { sessionId: idOf('x-session-id'), runId: idOf('x-run-id'), firstTextMs };
}
