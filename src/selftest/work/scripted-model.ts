// A model server on loopback that replies by a script: what it is asked to do is a number in the user's text.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MB } from '../../domain/byte-units.ts';

/** What the agent is asked, and what it has to answer in the end. */
export const wordsOf = (number: number): string => `Do piece ${number} of the work.`;
export const answerOf = (number: number): string =>
  `Piece ${number} is done: ${'all of it, '.repeat(number % 9)}in order.`;

/** Every piece of work writes so many files, one after another. */
export const filesOf = (number: number): number => number % 4;
export const fileOf = (number: number, step: number) => ({
  path: `/piece-${number}-${step}.txt`,
  content: `piece ${number}, step ${step}\n`.repeat(1 + (number % 50)),
});

/** Of the call that writes a file. */
export const callIdOf = (number: number, step: number): string => `call_${number}_${step}`;

export interface ScriptedModel {
  readonly url: string;
  /** What was wrong with the conversations that it was shown. */
  readonly problems: readonly string[];
  calls(): number;
  close(): Promise<void>;
}

interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly unknown[];
}

const MAX_BODY_BYTES = 4 * MB;
const MAX_PROBLEMS = 50;

/** Starts the server. Some calls fail once with 503 or are cut off, so that they are tried again. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const problems: string[] = [];
  const failed = new Set<string>();
  let calls = 0;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    void bodyOf(request).then(
      async (body) => {
        calls += 1;
        const found = lookAt(body.messages);
        if (typeof found === 'string') {
          if (problems.length < MAX_PROBLEMS) problems.push(found);
          return fail(response, 400);
        }
        const { number, step } = found;
        const place = `${number}/${step}`;
        if (number % 7 === 3 && !failed.has(place)) {
          failed.add(place);
          return fail(response, 503);
        }
        const isCut = number % 11 === 5 && !failed.has(place);
        failed.add(place);
        return reply(response, { number, step, isCut });
      },
      () => fail(response, 400),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    problems,
    calls: () => calls,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<{ messages: readonly ChatMessage[] }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error('The request is too long.');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as { messages: readonly ChatMessage[] };
}

/** Which piece and step is asked for, or what is wrong: every call must have its one result, in order. */
function lookAt(messages: readonly ChatMessage[]): { number: number; step: number } | string {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const number = Number(/Do piece (\d+) /.exec(JSON.stringify(messages[asked]?.content ?? ''))?.[1] ?? Number.NaN);
  if (Number.isNaN(number)) return 'A model call names no piece of work.';
  const since = messages.slice(asked + 1).map(({ role }) => role);
  const step = since.filter((role) => role === 'assistant').length;
  const expected = Array.from({ length: step }, () => ['assistant', 'tool']).flat();
  if (since.join() !== expected.join()) return `Piece ${number}: the model was shown ${since.join(', ')}.`;
  return step > filesOf(number) ? `Piece ${number}: the model was asked again after its answer.` : { number, step };
}

function fail(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"By the script."}}');
}

async function reply(response: ServerResponse, asked: { number: number; step: number; isCut: boolean }): Promise<void> {
  const { number, step, isCut } = asked;
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (choice: object, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...more })}\n\n`,
    );
  await sleep(20 + ((number * 37) % 200));
  if (isCut) return void response.destroy();
  const isLast = step === filesOf(number);
  if (isLast) {
    for (const part of answerOf(number).match(/.{1,16}/g) ?? []) {
      send({ delta: { content: part }, finish_reason: null });
      await sleep((number * 13) % 90);
    }
  } else {
    const call = { name: 'write_file', arguments: JSON.stringify(fileOf(number, step)) };
    send({
      delta: { tool_calls: [{ index: 0, id: callIdOf(number, step), type: 'function', function: call }] },
      finish_reason: null,
    });
  }
  send(
    { delta: {}, finish_reason: isLast ? 'stop' : 'tool_calls' },
    { usage: { prompt_tokens: 100 + step, completion_tokens: 10, total_tokens: 110 + step } },
  );
  response.end('data: [DONE]\n\n');
}
