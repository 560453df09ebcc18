// What a model is given of the conversation so far.
import { createHash } from 'node:crypto';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ModelMessage } from 'ai';
import { expect, test } from 'vitest';
import { openingMessages, stepMessages } from '../../src/agent/history.ts';
import type { Brief, RecordedStep, Turn } from '../../src/agent/protocol.ts';
import { recordReply } from '../../src/agent/recorded-message.ts';
import type { Attachment } from '../../src/domain/content.ts';
import { NO_USAGE } from '../../src/domain/usage.ts';
import { GRANT, makeBrief } from './play-main.ts';

const PIXEL = Buffer.from('not really a picture, but bytes');

function makeStep(changes: Partial<RecordedStep> = {}): RecordedStep {
  return { step: 1, kind: 'openai', message: null, text: 'Done.', calls: [], usage: NO_USAGE, ...changes };
}

function makeTurn(text: string, steps: readonly RecordedStep[] = [makeStep()]): Turn {
  return { user: [{ type: 'text', text }], attachments: [], steps };
}

async function makeImageBrief(images: boolean): Promise<{ brief: Brief; file: string }> {
  const attachment: Attachment = {
    id: 'att',
    name: 'cat.png',
    path: 'attachments/00000000-0000-7000-8000-000000000003/cat.png',
    workspacePath: '/uploads/cat.png',
    mimeType: 'image/png',
    size: PIXEL.length,
    sha256: createHash('sha256').update(PIXEL).digest('hex'),
  };
  const user = [
    { type: 'text', text: 'Look:' },
    { type: 'attachment', attachmentId: 'att', media: 'image' },
  ] as const;
  const turn: Turn = { user, attachments: [attachment], steps: [] };
  const brief = await makeBrief({ turn, model: { ...GRANT, images } });
  await mkdir(join(brief.workspace, 'uploads'));
  const file = join(brief.workspace, 'uploads/cat.png');
  await writeFile(file, PIXEL);
  return { brief, file };
}

function partsOf(message: ModelMessage | undefined): unknown {
  return message?.content;
}

test('earlier turns come first, and a turn without an answer still has one', async () => {
  const brief = await makeBrief({ history: [makeTurn('one'), makeTurn('two', [])], turn: makeTurn('three', []) });
  const messages = await openingMessages(brief);
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  expect(JSON.stringify(messages[3])).toContain('ended before an answer');
});

test('every recorded call gets a result, also one that never ended', () => {
  const calls: RecordedStep['calls'] = [
    { id: 'a', name: 'echo', input: {}, state: { kind: 'ended', result: { ok: false, output: 'no' } } },
    { id: 'b', name: 'echo', input: {}, state: { kind: 'unknown' } },
    { id: 'c', name: 'echo', input: {}, state: { kind: 'waiting' } },
  ];
  const [assistant, tool] = stepMessages(makeStep({ calls }), { model: GRANT } as Brief);
  expect(JSON.stringify(assistant)).toContain('"toolCallId":"c"');
  expect(partsOf(tool)).toMatchObject([
    { toolCallId: 'a', output: { type: 'error-text', value: 'no' } },
    { toolCallId: 'b', output: { type: 'error-text', value: expect.stringContaining('outcome unknown') } },
    { toolCallId: 'c', output: { type: 'error-text', value: expect.stringContaining('outcome unknown') } },
  ]);
});

test("a reply is replayed as it was to its own protocol, and rebuilt for another's", () => {
  const thinking = { type: 'reasoning' as const, text: 'hm', providerOptions: { anthropic: { signature: 'sig' } } };
  const { message } = recordReply({
    assistant: { role: 'assistant', content: [thinking, { type: 'text', text: 'Done.' }] },
    finishReason: 'stop',
    faults: new Map(),
    usedIds: new Set(),
  });
  const step = makeStep({ kind: 'anthropic', message: JSON.parse(JSON.stringify(message)) });
  const asked = (kind: 'anthropic' | 'openai') => stepMessages(step, { model: { ...GRANT, kind } } as Brief);
  expect(partsOf(asked('anthropic')[0])).toEqual([thinking, { type: 'text', text: 'Done.' }]);
  expect(partsOf(asked('openai')[0])).toEqual([{ type: 'text', text: 'Done.' }]);
});

test('the oldest turns are left out whole when they no longer fit, and the model is told', async () => {
  const history = ['first', 'second', 'third'].map((word) => makeTurn(`${word} ${'x'.repeat(3_000)}`));
  const model = { ...GRANT, contextWindow: 3_500, maxOutputTokens: 1_000 };
  const messages = await openingMessages(await makeBrief({ history, model }));
  const told = JSON.stringify(messages);
  expect(told).not.toContain('first');
  expect(told).toContain('second');
  expect(told).toContain('third');
  expect(JSON.stringify(messages[0])).toContain('earlier turns of this conversation were left out');
});

test('this turn is kept however long it is', async () => {
  const turn = makeTurn('y'.repeat(100_000), []);
  const model = { ...GRANT, contextWindow: 2_000, maxOutputTokens: 1_000 };
  const messages = await openingMessages(await makeBrief({ history: [makeTurn('old')], turn, model }));
  expect(messages).toHaveLength(1);
  expect(JSON.stringify(messages[0])).toContain('yyyy');
});

test('a model that sees is shown the image', async () => {
  const { brief } = await makeImageBrief(true);
  const [message] = await openingMessages(brief);
  expect(partsOf(message)).toEqual([
    { type: 'text', text: 'Look:' },
    { type: 'file', data: PIXEL.toString('base64'), mediaType: 'image/png' },
  ]);
});

test('a model that does not see is told of the image in words', async () => {
  const { brief } = await makeImageBrief(false);
  const told = JSON.stringify(await openingMessages(brief));
  for (const word of ['cat.png', 'image/png', `${PIXEL.length} bytes`, '/uploads/cat.png'])
    expect(told).toContain(word);
});

test('an upload that was replaced by other bytes or by a link is never read to the model', async () => {
  const { brief, file } = await makeImageBrief(true);
  await writeFile(file, Buffer.alloc(PIXEL.length, 'z'));
  expect(JSON.stringify(await openingMessages(brief))).toContain('[Attachment');
  const secret = join(brief.workspace, 'elsewhere');
  await writeFile(secret, PIXEL);
  await rm(file);
  await symlink(secret, file);
  expect(JSON.stringify(await openingMessages(brief))).toContain('[Attachment');
  await rm(file);
  expect(JSON.stringify(await openingMessages(brief))).toContain('[Attachment');
});

test('a recorded reply is plain JSON whose calls have object arguments', () => {
  const { message, calls, faults } = recordReply({
    assistant: {
      role: 'assistant',
      content: [
        { type: 'text', text: 'x' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'echo', input: [1, 2] },
      ],
    },
    finishReason: 'tool-calls',
    faults: new Map(),
    usedIds: new Set(),
  });
  expect(calls).toEqual([{ id: 'a', name: 'echo', input: {} }]);
  expect(faults['a']).toContain('not a JSON object');
  expect(structuredClone(message)).toEqual(JSON.parse(JSON.stringify(message)));
});
