// A minimal agent server: the AI SDK's loop behind the chat shape, without storage, threads or accounts. `node sdk-server.ts
// MODEL_SERVER_URL` prints one JSON line {"url","pid"} when it is ready.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ModelMessage, Tool } from 'ai';
import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ChatRequest {
  readonly model: string;
  readonly stream?: boolean;
  readonly messages: ModelMessage[];
}

const model = createOpenAICompatible({ name: 'scripted', baseURL: `${process.argv[2]}/v1`, includeUsage: true })(
  'scripted',
);

/** Two tools over a map, so that the tools case has something to call. */
function memoryTools(): Record<string, Tool> {
  const files = new Map<string, string>();
  return {
    write_file: tool({
      description: 'Writes a file.',
      inputSchema: jsonSchema<{ path: string; content: string }>({
        type: 'object',
        properties: { path: { type: 'string' }, content: { type: 'string' } },
        required: ['path', 'content'],
      }),
      execute: ({ path, content }) => {
        files.set(path, content);
        return `Wrote ${content.length} characters to ${path}.`;
      },
    }),
    list_files: tool({
      description: 'Lists the files.',
      inputSchema: jsonSchema({ type: 'object', properties: {} }),
      execute: () => [...files.keys()].join('\n'),
    }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as ChatRequest;
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const result = streamText({
    model,
    messages: body.messages,
    tools: memoryTools(),
    stopWhen: isStepCount(20),
    abortSignal: gone.signal,
    onError: ({ error }) => void response.destroy(error instanceof Error ? error : new Error(String(error))),
  });
  const envelope = { id: 'chatcmpl-bench', created: Math.floor(Date.now() / 1000), model: body.model };
  if (body.stream !== true) {
    const message = { role: 'assistant', content: await result.text };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...envelope, object: 'chat.completion', choices }));
    return;
  }
  const send = (delta: object, finishReason: string | null): void => {
    const choices = [{ index: 0, delta, finish_reason: finishReason }];
    response.write(`data: ${JSON.stringify({ ...envelope, object: 'chat.completion.chunk', choices })}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const text of result.textStream) send({ content: text }, null);
  send({}, 'stop');
  response.end('data: [DONE]\n\n');
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  answer(request, response).catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    response.destroy();
  });
});

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid })}\n`);
});
