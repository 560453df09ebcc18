// A well-behaved MCP server for tests, on the official SDK: `node mcp-server.mjs` speaks stdio, other files take `makeServer`.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { argv, env } from 'node:process';
import { pathToFileURL } from 'node:url';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = (words) => ({ content: [{ type: 'text', text: words }] });

/** @param {(what: string) => void} note called with what happens to calls */
export function makeServer(note = () => undefined) {
  const server = new McpServer({ name: 'test-server', version: '1.0.0' }, { instructions: 'Add before you subtract.' });
  const tool = (name, inputSchema, answer) =>
    server.registerTool(name, { description: `Does ${name}.`, inputSchema: z.object(inputSchema) }, answer);
  tool('add', { a: z.number(), b: z.number() }, async ({ a, b }) => text(String(a + b)));
  tool('fail', {}, async () => ({ ...text('It is broken.'), isError: true }));
  tool('environment', {}, async () => text(JSON.stringify(env)));
  // Shows that a value has arrived without repeating it.
  tool('digest', { name: z.string() }, async ({ name }) =>
    text(
      createHash('sha256')
        .update(env[name] ?? '')
        .digest('base64url')
        .slice(0, 16),
    ),
  );
  tool('read', { path: z.string() }, async ({ path }) => text(await readFile(path, 'utf8').catch(({ code }) => code)));
  tool('write', { path: z.string(), words: z.string() }, async ({ path, words }) => {
    await writeFile(path, words);
    return text('written');
  });
  tool('fetch', { url: z.string() }, async ({ url }) =>
    text(
      await fetch(url).then(
        (reply) => reply.text(),
        ({ cause }) => `failed: ${cause?.code}`,
      ),
    ),
  );
  tool('die', {}, async () => process.exit(7));
  tool('large', { bytes: z.number() }, async ({ bytes }) => text('x'.repeat(bytes)));
  tool('wait', { path: z.string() }, async ({ path }, { mcpReq }) => {
    const canceled = new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
    note('waiting');
    await writeFile(path, 'waiting').catch(() => undefined);
    await canceled;
    note('canceled');
    await writeFile(path, 'canceled').catch(() => undefined);
    return text('too late');
  });
  tool('progress', { steps: z.number(), pauseMs: z.number() }, async ({ steps, pauseMs }, { mcpReq }) => {
    for (let progress = 1; progress <= steps; progress += 1) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const { progressToken } = mcpReq['_meta'];
      await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress } });
    }
    return text('done');
  });
  tool('mixed', {}, async () => ({
    content: [
      { type: 'text', text: 'Here:' },
      { type: 'image', data: Buffer.from('picture').toString('base64'), mimeType: 'image/png' },
      { type: 'audio', data: Buffer.from('sound').toString('base64'), mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'inside' } },
      { type: 'resource_link', uri: 'file:///b.txt', name: 'b' },
    ],
  }));
  tool('structured', {}, async () => ({ content: [], structuredContent: { answer: 42 } }));
  tool('change', {}, async () => {
    server.registerTool('late', { description: 'Came late.', inputSchema: z.object({}) }, async () => text('late'));
    return text('changed');
  });
  return server;
}

if (argv[1] !== undefined && import.meta.url === pathToFileURL(argv[1]).href) {
  await makeServer().connect(new StdioServerTransport());
}
